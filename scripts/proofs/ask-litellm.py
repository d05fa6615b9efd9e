"""Runs completions with LiteLLM, whose prompts a server has, and prints one JSON line for each: what it did, or how it failed.

Standard input has the cases: [{"prompt_id", "prompt_variables"?, "query"?}, …]. PROMPTS_URL is where prompts are, MODEL_URL where
LiteLLM finds a model that speaks as OpenAI's do.
"""

import json
import os
import sys

import litellm
from litellm.integrations.generic_prompt_management import GenericPromptManager

litellm.suppress_debug_info = True

for case in json.load(sys.stdin):
    litellm.callbacks = [
        GenericPromptManager(
            api_base=os.environ["PROMPTS_URL"],
            api_key=os.environ["PROMPTS_KEY"],
            additional_provider_specific_query_params=case.get("query"),
        )
    ]
    try:
        reply = litellm.completion(
            model="gpt-4o-mini",
            prompt_id=case["prompt_id"],
            prompt_variables=case.get("prompt_variables"),
            messages=[{"role": "user", "content": "And now?"}],
            api_base=os.environ["MODEL_URL"],
            api_key="none",
        )
        print(json.dumps({"reply": reply.choices[0].message.content}), flush=True)
    except Exception as error:
        print(json.dumps({"failure": str(error)}), flush=True)
