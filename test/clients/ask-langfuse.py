"""Asks a server for prompts as programs with Langfuse's SDK do, and prints what they get as one JSON object.

BRANCHPOINT_URL and BRANCHPOINT_KEY say which server.
"""

import json
import os

from langfuse import Langfuse
from langfuse.api.core.api_error import ApiError

URL = os.environ["BRANCHPOINT_URL"]
KEY = os.environ["BRANCHPOINT_KEY"]


def client(key=KEY):
    # No traces: prompts are all that is asked for. The SDK keeps one client for each public key.
    return Langfuse(public_key=f"for {key}", secret_key=key, host=URL, tracing_enabled=False)


def refusal(ask):
    try:
        ask()
    except ApiError as error:
        return {"kind": type(error).__name__, "status": error.status_code, "body": error.body}
    except Exception as error:
        return {"kind": type(error).__name__, "text": str(error)}
    return None


def shown(prompt):
    return {
        "kind": type(prompt).__name__,
        "version": prompt.version,
        "prompt": prompt.prompt,
        "config": prompt.config,
        "labels": prompt.labels,
        "tags": prompt.tags,
        "commit_message": prompt.commit_message,
        "is_fallback": prompt.is_fallback,
    }


langfuse = client()
once = {"cache_ttl_seconds": 0, "max_retries": 0}
chat = langfuse.get_prompt("support-bot", type="chat", **once)
text = langfuse.get_prompt("greeting", label="latest", **once)
listed = langfuse.api.prompts.list(limit=1, page=2)
print(
    json.dumps(
        {
            "chat": shown(chat),
            "compiled": chat.compile(
                question="Where?", history=[{"role": "user", "content": "Hello"}, {"role": "assistant", "content": "Hi"}]
            ),
            "text": shown(text),
            "filled": text.compile(name="Ada"),
            "by_label": langfuse.get_prompt("support-bot", label="staging", type="chat", **once).version,
            "by_version": langfuse.get_prompt("support-bot", version=1, type="chat", **once).version,
            "latest": langfuse.get_prompt("support-bot", label="latest", type="chat", **once).version,
            "fallback": shown(langfuse.get_prompt("nobody", fallback="Instead", **once)),
            "listed": [it.model_dump(mode="json") for it in listed.data],
            "total": listed.meta.total_items,
            "tagged": [it.name for it in langfuse.api.prompts.list(tag="support").data],
            "labelled": [it.name for it in langfuse.api.prompts.list(label="production").data],
            "missing": refusal(lambda: langfuse.get_prompt("nobody", **once)),
            "unlabelled": refusal(lambda: langfuse.get_prompt("support-bot", label="nobody", **once)),
            "long": refusal(lambda: langfuse.get_prompt("x" * 500, **once)),
            "percent": refusal(lambda: langfuse.get_prompt("50%", **once)),
            "folder": refusal(lambda: langfuse.get_prompt("folder/support-bot", **once)),
            "both": refusal(lambda: langfuse.api.prompts.get("support-bot", version=1, label="latest")),
            "no_key": refusal(lambda: client("nobody").get_prompt("support-bot", **once)),
            "no_right": refusal(lambda: client(os.environ["WRITER_KEY"]).get_prompt("support-bot", **once)),
        }
    )
)
