//! Attribution of short English texts.

use crate::schema::Language;

use crate::attribution::Attribution;
use crate::attribution::Gender;
use crate::attribution::QuotationKind;
use crate::attribution::attribute;

fn english(text: &str) -> Attribution {
    attribute(text, Language::En, false)
}

fn person(attribution: &Attribution, name: &str) -> Option<usize> {
    attribution.people.iter().position(|person| person.name == name || person.aliases.iter().any(|alias| alias == name))
}

/// Checks the speaker of each quotation, which may be given by any of its names.
fn check(text: &str, expected: &[&str]) {
    let attribution = english(text);
    let found: Vec<Option<usize>> = attribution.quotations.iter().map(|quotation| quotation.speaker).collect();
    let speakers: Vec<Option<usize>> = expected.iter().map(|name| person(&attribution, name)).collect();
    assert!(speakers.iter().all(Option::is_some), "{expected:?} among {:?}", attribution.people);
    assert_eq!(found, speakers, "{expected:?} among {:?}", attribution.people);
}

#[test]
fn the_subject_of_a_tag_before_speech_is_the_speaker() {
    let cast = "“Good day,” said Ruth Hallow.\n\n“Good day,” said Tom Pell.\n\n* * *\n\n";
    for (tag, speaker) in [
        ("Ruth was bid to hold her tongue; but Tom, much offended, laid aside his book, and said,", "Tom"),
        ("Before Ruth had time for more than a look, Tom instantly answered,", "Tom"),
        ("Tom, drawing near Ruth, said to her,", "Tom"),
        ("She was met at the door by Ruth, who, flying up to her, cried,", "Ruth"),
        ("Tom was thinking of the tide, when thus accosted by Ruth,", "Ruth"),
        ("More than once did Tom say to Ruth,", "Tom"),
        ("Tom knew that Ruth had gone, and said,", "Tom"),
    ] {
        check(&format!("{cast}{tag} “The tide will not wait.”\n"), &["Ruth Hallow", "Tom Pell", speaker]);
    }
}

#[test]
fn tags_with_unlisted_verbs_are_recognized() {
    let cast = "“Good day,” said Ruth Hallow.\n\n“Good day,” said Tom Pell.\n\n* * *\n\n";
    for (tag, speaker) in [
        ("hazarded Tom.", "Tom"),
        ("unwisely put in Ruth.", "Ruth"),
        ("was Tom’s answer.", "Tom"),
        ("were the words of Ruth.", "Ruth"),
        ("Tom’s voice answered.", "Tom"),
    ] {
        check(&format!("{cast}“It is not the tide,” {tag}\n"), &["Ruth Hallow", "Tom Pell", speaker]);
    }
}

#[test]
fn the_narrator_is_named_by_how_others_address_him() {
    let text = "“You are late, Wren,” said Mr. Hallow.\n\n“I missed the ferry,” I said.\n\n“Sit down, Wren,” said Mr. Hallow. \
                “Is it deep?”\n\n“It is, sir,” I answered. I sat down.\n\n“Tell us, Wren,” said Ruth.\n\n“There is little to tell,” \
                said I.\n\n“He never tells,” said Mr. Hallow.\n";
    let attribution = english(text);
    let wren = person(&attribution, "Wren").expect("the narrator's name is found");
    let by_wren: Vec<bool> = attribution.quotations.iter().map(|quotation| quotation.speaker == Some(wren)).collect();
    assert_eq!(by_wren, [false, true, false, false, true, false, true, false], "{:?}", attribution.people);
    let book =
        english("My name is Peter Wren. “Is it deep?” I said.\n\n“It is,” said Ruth Hallow.\n\n“Row on,” I said.\n");
    assert_eq!(book.quotations[0].speaker, person(&book, "Peter Wren"), "{:?}", book.people);
}

#[test]
fn a_book_may_start_with_a_question_about_a_name() {
    let attribution = english("Whose name was Tom Garrick? “Mine,” said Tom Garrick.\n");
    assert_eq!(attribution.quotations[0].speaker, person(&attribution, "Tom Garrick"), "{:?}", attribution.people);
}

#[test]
fn third_person_pronouns_never_mean_the_narrator() {
    let text = "“Is it deep?” I asked.\n\n“Very,” said Tom Pell. Tom looked at the water.\n\n“Then row,” I said.\n\n“Row yourself,” he said.\n";
    check(text, &["I", "Tom", "I", "Tom"]);
}

#[test]
fn a_self_introduction_names_its_speaker() {
    let text = "“Who comes there?” said Ruth Hallow. Tom Pell laughed, and so did Hugh Arden.\n\n“My name is Hugh Arden,” he said. \
                “I have the licence.”\n";
    check(text, &["Ruth Hallow", "Hugh Arden", "Hugh Arden"]);
}

#[test]
fn animals_and_capitalized_roles_are_characters() {
    let text = "“It is the wrong moon,” said the Hare.\n\n“There is only one,” said Nell. The Marchioness looked at her.\n\n\
                “Do not answer back,” said the Marchioness, and the Hare nodded.\n\n“I did not,” said Nell.\n\n“You do it now,” the \
                Marchioness said.\n\n“The moon!” said the Hare. Then the Hare and the Marchioness went home.\n";
    check(text, &["Hare", "Nell", "Marchioness", "Nell", "Marchioness", "Hare"]);
}

#[test]
fn couples_and_sisters_stay_separate_characters() {
    let text = "“We are late,” said Mrs. Hallow.\n\n“We are not,” said Mr. Hallow. Mr. and Mrs. Hallow sat down, and Jane Hallow and Lucy \
                Hallow came in.\n\n“Good morning,” said Jane.\n\n“Good morning, Miss Hallow,” said Captain Pell. “And Miss Lucy?”\n\n\
                “I am well,” said Miss Lucy. “Captain, sit by me.” She looked at Mr. Pell.\n\n“With joy,” said Pell.\n";
    let attribution = english(text);
    let of = |name| person(&attribution, name).expect(name);
    assert_ne!(of("Mr. Hallow"), of("Mrs. Hallow"));
    assert_ne!(of("Jane"), of("Lucy Hallow"));
    assert_eq!(of("Miss Lucy"), of("Lucy Hallow"));
    assert_eq!(of("Miss Hallow"), of("Jane"));
    assert_eq!(of("Mr. Pell"), of("Captain Pell"));
    assert_eq!(of("Pell"), of("Captain Pell"));
    assert_eq!(attribution.people[of("Jane")].gender, Gender::Female);
}

#[test]
fn short_forms_are_merged_and_a_late_full_name_is_not() {
    let text = "“Here,” said Tom Pell.\n\n“Where?” said Will. “Thomas Pell, where?”\n\n“There,” said Tom. William laughed. William \
                sat down.\n\n“Ah,” said Will.\n";
    let attribution = english(text);
    assert_eq!(person(&attribution, "Tom Pell"), person(&attribution, "Thomas Pell"));
    assert_eq!(person(&attribution, "Will"), person(&attribution, "William"));
    let many = "“Quite,” said Mary. Mary looked out. ".repeat(14);
    let attribution = english(&format!("{many}\n\n“It is Mary Orme,” said Tom Pell. Miss Orme bowed.\n"));
    assert_ne!(person(&attribution, "Mary"), person(&attribution, "Mary Orme"));
}

#[test]
fn a_title_refers_to_its_bearer() {
    let text = "“Open the gate,” said Dr. Arden. Dr. Arden was cold.\n\n“It is open,” said Tom.\n\n“So it is,” said the doctor.\n";
    check(text, &["Dr. Arden", "Tom", "Dr. Arden"]);
    let mother =
        "“Is it deep?” I asked.\n\n“It is,” said my mother. Mrs. Hallow had gone home.\n\n“Come in,” my mother said.\n";
    check(mother, &["I", "my mother", "my mother"]);
}

#[test]
fn titles_of_two_languages_are_merged() {
    let attribution = english(
        "“Herr Kessler,” said Doctor Aro, “sit.”\n\n“No,” said Kessler.\n\n“Then stand, Mr. Kessler,” said Doctor Aro.\n\nKessler sat down.\n",
    );
    assert_eq!(person(&attribution, "Herr Kessler"), person(&attribution, "Mr. Kessler"), "{:?}", attribution.people);
    assert_eq!(person(&attribution, "Kessler"), person(&attribution, "Mr. Kessler"));
}

#[test]
fn given_names_outweigh_nearby_pronouns() {
    let text = "“Come,” said Mary to the boy, and he came.\n\n".repeat(20);
    let attribution = english(&text);
    let mary = person(&attribution, "Mary").expect("this character speaks");
    assert_ne!(attribution.people[mary].gender, Gender::Male, "{:?}", attribution.people);
    // Many pronouns outweigh the given name: this Frank is female.
    let text = "“Come,” said Frank. She took up her hat, and she put her book into her bag.\n\n".repeat(20);
    let attribution = english(&text);
    let frank = person(&attribution, "Frank").expect("this character speaks");
    assert_eq!(attribution.people[frank].gender, Gender::Female, "{:?}", attribution.people);
}

#[test]
fn an_exclamation_about_oneself_names_the_speaker() {
    check(
        "“The boat is gone,” said the Rat.\n\n“Gone,” said the Toad. The Rat looked out.\n\n“What a clever Toad I am!”\n\n“Hm,” said the Rat.\n",
        &["Rat", "Toad", "Toad", "Rat"],
    );
}

#[test]
fn a_song_has_one_singer() {
    let attribution = english(
        "“I am a sailor,” said Mr. Hale.\n\n“You are not,” said Tom Reed.\n\n“I am!” said Mr. Hale, and he sang it aloud:\n\n    \
         “The tide is out, the mud is brown,\n      And all the boats lie over;\n\n    \
         “I asked them all the way to town,\n      For handsome Hale, the rover.”\n",
    );
    let hale = person(&attribution, "Mr. Hale");
    assert_eq!(attribution.quotations.len(), 7);
    assert!(attribution.quotations[3..].iter().all(|line| line.speaker == hale), "{:?}", attribution.quotations);
}

#[test]
fn a_pronoun_refers_to_the_last_subject() {
    let text = "“Cards?” said Mr. Hallow.\n\n“A book,” said Mr. Pell.\n\nMr. Arden looked at Mr. Pell with astonishment.\n\n“Do you \
                prefer reading to cards?” said he.\n";
    check(text, &["Mr. Hallow", "Mr. Pell", "Mr. Arden"]);
}

#[test]
fn nouns_in_speech_tags_are_characters() {
    let text = "“Sit down, Tom,” said the notary. Tom Pell sat down.\n\n“Is it the will?” said Tom.\n\nThe notary nodded. “It is the \
                house.”\n\n“Mine,” said Tom.\n";
    check(text, &["the notary", "Tom", "the notary", "Tom"]);
}

#[test]
fn a_title_as_a_vocative_refers_to_its_bearer() {
    let text = "“Nobody leaves,” said Inspector Bray. Ruth Hallow looked at Dr. Arden, and Dr. Arden at the door.\n\n“I have a train,” \
                said Ruth.\n\n“You had one,” said Bray. “Doctor, when was the tide?”\n\n“At nine.”\n\n“So late?” said Ruth.\n";
    check(text, &["Bray", "Ruth", "Bray", "Bray", "Dr. Arden", "Ruth"]);
}

#[test]
fn plural_subjects_stay_unattributed() {
    let text = "“Row,” said Tom Pell.\n\n“Which way?” said Ruth Hallow.\n\n“Home!” they cried.\n\n“Home,” said Tom.\n";
    let attribution = english(text);
    let speakers: Vec<bool> = attribution.quotations.iter().map(|quotation| quotation.speaker.is_some()).collect();
    assert_eq!(speakers, [true, true, false, true]);
}

#[test]
fn a_role_is_merged_with_its_name_in_apposition() {
    let text = "The widow, Mrs. Hallow, came in with the kid they called Wren. “Good day,” said Mrs. Hallow.\n\n“Good day,” said Wren.\n\n\
                “It is late,” said the widow.\n";
    check(text, &["Mrs. Hallow", "Wren", "Mrs. Hallow"]);
}

#[test]
fn the_narrator_is_named_by_a_form_of_address() {
    let text = "“Who is there?” I called.\n\nCaptain Oram stood on the step. “You must be Davey Marsh,” said Captain Oram.\n\n“I am, \
                sir,” said I.\n\n“Then let me in,” said Captain Oram.\n";
    let attribution = english(text);
    let marsh = person(&attribution, "Davey Marsh");
    assert!(marsh.is_some() && marsh == person(&attribution, "I"), "{:?}", attribution.people);
}

#[test]
fn the_author_on_the_title_page_is_not_a_character() {
    let story =
        "“Is it deep?” said Jane. Jane smiled.\n\n“It is,” said Mr. Hallow.\n\nJane Hallow looked at the tide.\n";
    for page in [
        "THE TIDE\n\nby Jane Osgood\n\n",
        "THE TIDE\nA novel\nBY JANE OSGOOD.\n\n",
        "Title: The Tide\n\nAuthor: Jane Osgood\n\n",
    ] {
        let preface = "This is the third book of Jane Osgood, and Miss Osgood has said that it is the last.\n\n";
        let attribution = english(&format!("{page}{preface}{story}"));
        let jane = person(&attribution, "Jane").expect("this character speaks");
        let forms = format!("{} {}", attribution.people[jane].name, attribution.people[jane].aliases.join(" "));
        assert!(!forms.contains("Osgood") && forms.contains("Jane Hallow"), "{page}{forms}");
        assert!(attribution.people.iter().all(|person| !person.name.contains("Osgood")), "{:?}", attribution.people);
    }
    // The narrator of an autobiography is named on the title page too.
    let autobiography = "MY LIFE\n\nby Peter Wren\n\n“Is it deep?” said Peter Wren.\n\n“It is,” said Ruth Hallow. “Come, Peter Wren.”\n";
    assert!(person(&english(autobiography), "Peter Wren").is_some());
}

#[test]
fn a_description_is_merged_with_its_name() {
    let cast = "“Who is on the water?” said Ruth Hallow. Ruth looked out.\n\n";
    for (text, noun) in [
        (
            "The ferryman held up his lamp. “Step in,” said the ferryman.\n\n“Who are you?” said Ruth.\n\n“I’m Tom Garrick,” said the \
             ferryman. Tom Garrick laughed.\n\n“Sit down,” said the ferryman.\n",
            "the ferryman",
        ),
        (
            "By the fire sat an old woman, whose name was Mrs. Garrick. “Step in,” said the old woman.\n\n“Gladly,” said Ruth.\n\n“Sit \
             down,” said the woman. Mrs. Garrick laughed.\n",
            "the woman",
        ),
        (
            "“Step in,” said the stranger.\n\n“Gladly,” said Ruth.\n\nThe stranger put back his hood. It was Garrick.\n\n“Sit down,” \
             said Garrick.\n",
            "the stranger",
        ),
        (
            "The vicar – his name was Mr. Garrick – shut the door. “Step in,” said the vicar.\n\n“Gladly,” said Ruth.\n\n“Sit down,” \
             said Mr. Garrick.\n",
            "the vicar",
        ),
        (
            "The sexton’s name was Garrick. “Step in,” said the sexton.\n\n“Gladly,” said Ruth.\n\n“Sit down,” said Garrick.\n",
            "the sexton",
        ),
    ] {
        let attribution = english(&format!("{cast}{text}"));
        let garrick = attribution.people.iter().position(|person| person.name.contains("Garrick")).expect(text);
        let spoken: Vec<&str> = attribution
            .quotations
            .iter()
            .filter(|quotation| quotation.speaker == Some(garrick))
            .map(|quotation| quotation.text.as_str())
            .collect();
        assert!(
            spoken.contains(&"Step in,") && spoken.contains(&"Sit down,"),
            "{noun}: {:?} {:?}",
            attribution.people,
            spoken
        );
        assert!(attribution.people.iter().all(|person| person.name != noun), "{:?}", attribution.people);
    }
}

#[test]
fn a_description_used_for_two_people_is_not_merged() {
    // The stranger of the next scene is another person.
    let text = "“Step in,” said the stranger.\n\n“Gladly,” said Ruth Hallow.\n\nThe stranger put back his hood. It was Garrick.\n\n\
                “Sit down,” said Garrick.\n\n* * *\n\n“Is it late?” said the stranger.\n\n“Very,” said Ruth.\n";
    let attribution = english(text);
    assert!(attribution.quotations[3].speaker == person(&attribution, "the stranger"), "{:?}", attribution.people);
    assert_ne!(attribution.quotations[3].speaker, person(&attribution, "Garrick"));
}

#[test]
fn conditional_and_quoted_introductions_merge_no_characters() {
    for introduction in [
        "“If I’m Tom Garrick, you are late,” said the ferryman.",
        "“‘I’m Tom Garrick,’ she said, and laughed,” said the ferryman.",
        "“You think I am Tom Garrick,” said the ferryman.",
    ] {
        let text = format!(
            "“Who is on the water?” said Ruth Hallow.\n\nThe ferryman held up his lamp. “Step in,” said the ferryman.\n\n{introduction}\n\n\
             Tom Garrick laughed. “Sit down,” said Tom Garrick.\n"
        );
        let attribution = english(&text);
        assert_eq!(
            attribution.quotations[1].speaker,
            person(&attribution, "the ferryman"),
            "{introduction}: {:?}",
            attribution.people
        );
        assert_ne!(person(&attribution, "the ferryman"), person(&attribution, "Tom Garrick"), "{introduction}");
    }
}

#[test]
fn the_narrator_is_named_by_self_introduction() {
    let text = "“Is this the schoolmaster?” said Ruth Hallow.\n\n“I am Francis Heron,” I said. “I came about the light.”\n\n“Sit, Mr. \
                Heron,” said Ruth.\n\n“I will,” said I.\n";
    let attribution = english(text);
    let heron = person(&attribution, "Francis Heron");
    assert!(heron.is_some() && heron == person(&attribution, "I"), "{:?}", attribution.people);
}

#[test]
fn an_addressed_character_answers_next() {
    check(
        "Dorcas Fell looked at the door, and Tom Pell at the wheel. “It is late,” said Ruth Hallow.\n\n“Is it?” said Tom.\n\n“It is. \
         Come here, Dorcas.”\n\n“I am coming.”\n\n“And bring the lamp, Tom,” said Ruth.\n\n“It is out.”\n",
        &["Ruth", "Tom", "Ruth", "Dorcas", "Ruth", "Tom"],
    );
    check(
        "“Five hundred,” said Tom Pell.\n\n“Again,” said Dorcas Fell.\n\n“Count it yourself, Ruth Hallow,” said Tom.\n\n“I have.”\n\n\
         “Then we are short, Dorcas.”\n\n“I know.”\n\n“Then so be it,” said Ruth.\n",
        &["Tom", "Dorcas", "Tom", "Ruth", "Tom", "Dorcas", "Ruth"],
    );
}

#[test]
fn exclamations_are_not_names() {
    let attribution = english("“Hurrah!” said Tom Pell. “Aye, aye! Bravo!”\n\n“Hush!” said Ruth. “Sh! Sh!”\n");
    assert_eq!(attribution.people.len(), 2, "{:?}", attribution.people);
    assert!(attribution.quotations.iter().all(|quotation| quotation.kind == Some(QuotationKind::Explicit)));
}
