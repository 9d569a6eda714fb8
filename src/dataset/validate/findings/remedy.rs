//! What to do about a finding.

use std::fmt;

use serde::{Serialize, Serializer};

/// What to do about a finding. Displayed and serialized as a text for the user.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Remedy {
    /// Rebuild the data set from the run's journal.
    Rebuild,
    /// Rebuild a changed file, or keep the changed data set elsewhere.
    RebuildOrMove,
    /// Rebuild the report.
    RebuildReport,
    /// Remove the row or restore the row that it refers to.
    RestoreReferenced,
    /// Download the data set again, since the run that built it is not available.
    Download,
    /// Move an unlisted file elsewhere.
    MoveFile,
    /// Write the table with the documented types.
    WriteTypes,
    /// Correct an invalid value.
    CorrectValue,
    /// Correct the data card.
    CorrectCard,
    /// Rewrite a line of the data card that `dramaturg split` does not support.
    RewriteCardLine,
    /// Add a missing id, or remove the row.
    AddId,
    /// Remove one of two rows with the same id.
    RemoveDuplicate,
    /// Remove a secret from the pipeline file.
    RemoveSecretFromPipeline,
    /// Remove a secret from a source of the rows.
    RemoveSecretFromSource,
    /// Set the encoding of the book.
    SetEncoding,
    /// Remove a sample with a private value, or change its scene.
    RemovePrivateSample,
    /// Change a scene that shows a private value to every sample.
    CorrectPrivateScene,
    /// Adjust the parameters that balance the dimensions.
    AdjustBalance,
    /// Replace a dimension that the run does not have.
    ReplaceDimension,
    /// Split the data set again.
    SplitAgain,
    /// Split the conversations as their samples.
    SplitConversations,
}

impl Remedy {
    /// Returns whether the remedy needs the run that built the data set.
    pub(in crate::dataset::validate) const fn needs_run(self) -> bool {
        match self {
            Self::Rebuild
            | Self::RebuildOrMove
            | Self::RebuildReport
            | Self::RestoreReferenced
            | Self::WriteTypes
            | Self::CorrectValue
            | Self::RemoveSecretFromSource
            | Self::SetEncoding
            | Self::RemovePrivateSample
            | Self::CorrectPrivateScene
            | Self::AdjustBalance
            | Self::ReplaceDimension => true,
            Self::Download
            | Self::MoveFile
            | Self::CorrectCard
            | Self::RewriteCardLine
            | Self::AddId
            | Self::RemoveDuplicate
            | Self::RemoveSecretFromPipeline
            | Self::SplitAgain
            | Self::SplitConversations => false,
        }
    }

    const fn text(self) -> &'static str {
        match self {
            Self::Rebuild => "`dramaturg build PIPELINE --replay` rebuilds the data set from the run's journal",
            Self::RebuildOrMove => {
                "`dramaturg build PIPELINE --replay` rebuilds it; keep intentionally changed data sets outside the run's folder"
            }
            Self::RebuildReport => "`dramaturg build PIPELINE --replay` rewrites the report",
            Self::RestoreReferenced => {
                "remove the row, or restore the row that it refers to; `dramaturg build PIPELINE --replay` rebuilds both"
            }
            Self::Download => {
                "download the data set again, or correct it at its source; the run that built it is not available here"
            }
            Self::MoveFile => "move it elsewhere, since readers load every file of a config",
            Self::WriteTypes => "write the table with the types listed in docs/dataset.md, as `dramaturg export` does",
            Self::CorrectValue => "correct the value (docs/dataset.md lists the columns), or build again",
            Self::CorrectCard => {
                "correct the data card, which readers rely on; `dramaturg split` or `build` rewrites it"
            }
            Self::RewriteCardLine => {
                "rewrite the line; `dramaturg split` supports only the YAML forms listed in docs/splits.md and does not overwrite others"
            }
            Self::AddId => "give it an id, or remove the row",
            Self::RemoveDuplicate => "remove one of them; ids are unique across the splits of a config",
            Self::RemoveSecretFromPipeline => "remove it from the pipeline file, and revoke the key",
            Self::RemoveSecretFromSource => {
                "remove it from the book, prompt or reply that it comes from, revoke the key, and build again"
            }
            Self::SetEncoding => {
                "set the book's encoding (`dramaturg chunk BOOK --encoding`), or correct the text, and build again"
            }
            Self::RemovePrivateSample => {
                "remove the sample, correct the scene (`scene_pool/edits/`) or make the attribute public, and build again"
            }
            Self::CorrectPrivateScene => {
                "every sample of the scene shows this text: correct the scene (`scene_pool/edits/`) or make the attribute \
                 public, and build again"
            }
            Self::AdjustBalance => {
                "raise `simulate.tau` or `simulate.target_probability` and build again, or weight the dimensions when averaging scores"
            }
            Self::ReplaceDimension => "assign one of the run's dimensions, or build again",
            Self::SplitAgain => "split the data set again with `dramaturg split`, which keeps such rows together",
            Self::SplitConversations => {
                "`dramaturg split` puts conversations in the split of their samples; do not train on conversations whose turns are tested"
            }
        }
    }
}

impl fmt::Display for Remedy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text())
    }
}

impl Serialize for Remedy {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.text())
    }
}
