import { fromEntries, type Json, type JsonObject } from '../../json/json.ts'
import type { ChatCall } from '../models.ts'

/** A call as the chat-completions protocol says it, without the model. Nothing is sent that the call leaves open. */
export function chatRequest(call: ChatCall): JsonObject {
  const hasTools = call.tools !== undefined && call.tools.length > 0
  const members: readonly (readonly [string, Json | undefined])[] = [
    ['messages', call.messages],
    ['temperature', call.temperature],
    // Reasoning models of openai take the new name only, and compatible servers know the old one only.
    [REASONING_MODELS.test(call.model) ? 'max_completion_tokens' : 'max_tokens', call.maxTokens],
    ['top_p', call.topP],
    ['frequency_penalty', call.frequencyPenalty],
    ['presence_penalty', call.presencePenalty],
    ['reasoning_effort', call.reasoningEffort],
    ['chat_template_kwargs', call.chatTemplateKwargs],
    ['response_format', call.responseFormat],
    ['tools', hasTools ? call.tools : undefined],
    ['tool_choice', hasTools ? call.toolChoice : undefined],
  ]
  return fromEntries(members.flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])))
}

const REASONING_MODELS = /^(?:openai\/)?(?:o[0-9]|gpt-5)/
