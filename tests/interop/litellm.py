"""A mock model for a LiteLLM proxy: answers a JSON Schema with an instance of it, and other requests with a sentence.

The same messages get the same answer, so that two builds can be compared.
"""

import hashlib
import json
import random

import litellm

SENTENCE = "(nods) I have heard that said before, and I do not hold with it."


def instance(schema: dict, root: dict, draw: random.Random):
    """Returns an instance of a schema. Supports the keywords that the program uses."""
    if "$ref" in schema:
        target = root
        for part in schema["$ref"].removeprefix("#/").split("/"):
            target = target[part]
        return instance(target, root, draw)
    if "const" in schema:
        return schema["const"]
    if "enum" in schema:
        return draw.choice(schema["enum"])
    for choice in ("oneOf", "anyOf"):
        if choice in schema:
            return instance(draw.choice(schema[choice]), root, draw)
    kind = schema.get("type")
    if kind == "object":
        return {key: instance(value, root, draw) for key, value in schema["properties"].items()}
    if kind == "array":
        return [instance(schema["items"], root, draw) for _ in range(max(1, schema.get("minItems", 1)))]
    if kind == "integer":
        return draw.randint(int(schema.get("minimum", 1)), int(schema.get("maximum", 5)))
    if kind == "boolean":
        return draw.random() < 0.5
    return "It is said plainly, and nobody at the table holds with it."


class Model(litellm.CustomLLM):
    """The model `own/instance` of the proxy's configuration."""

    async def acompletion(self, *args, **kwargs):
        asked = json.dumps(kwargs["messages"], sort_keys=True)
        draw = random.Random(hashlib.sha256(asked.encode()).digest())
        wanted = kwargs.get("optional_params", {}).get("response_format") or {}
        schema = wanted.get("json_schema", {}).get("schema")
        text = json.dumps(instance(schema, schema, draw)) if schema else SENTENCE
        return litellm.ModelResponse(
            model="instance",
            choices=[{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": text}}],
            usage=litellm.Usage(prompt_tokens=len(asked) // 4, completion_tokens=len(text) // 4),
        )


model = Model()
