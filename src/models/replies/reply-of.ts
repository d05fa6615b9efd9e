import { fromEntries, type Json, type JsonObject } from '../../json/json.ts'
import type { LanguageModel } from '../language-model.ts'
import type { ChatReply, TokenUsage } from '../models.ts'

type Result = Awaited<ReturnType<LanguageModel['doGenerate']>>

/** What the SDK tells of an answer, whole or gathered from pieces. */
export interface SdkAnswer {
  readonly content: Result['content']
  readonly usage: Result['usage']
  readonly finishReason: Result['finishReason']
  /** What the model said instead of an answer; the SDK has no word for it. */
  readonly refusal: string
}

/**
 * A reply in the form of the chat-completions protocol, without what a provider adds. A reply that says nothing at all has the
 * content "".
 */
export function replyOf({ content, usage, finishReason, refusal }: SdkAnswer): ChatReply {
  const text = content.map((part) => (part.type === 'text' ? part.text : '')).join('')
  const calls = content.flatMap((part): JsonObject[] =>
    part.type === 'tool-call'
      ? [{ id: part.toolCallId, type: 'function', function: { name: part.toolName, arguments: part.input } }]
      : [],
  )
  const members: [string, Json][] = [['role', 'assistant']]
  if (text !== '' || (refusal === '' && calls.length === 0)) members.push(['content', text])
  if (refusal !== '') members.push(['refusal', refusal])
  if (calls.length > 0) members.push(['tool_calls', calls])
  return {
    message: fromEntries(members),
    usage: usageOf(usage),
    finishReason: finishReason.unified.replaceAll('-', '_'),
  }
}

function usageOf({ inputTokens, outputTokens, raw }: Result['usage']): TokenUsage {
  const prompt = inputTokens.total ?? 0
  const completion = outputTokens.total ?? 0
  const total = raw?.total_tokens
  return { prompt, completion, total: typeof total === 'number' ? total : prompt + completion }
}
