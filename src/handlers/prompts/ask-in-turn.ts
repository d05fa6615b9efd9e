import type { JsonObject } from '../../json/json.ts'
import { type ChatReply, ModelFailure } from '../../models/models.ts'
import type { LlmConfig } from '../../prompts/llm-config.ts'
import { HandlerFailure } from '../handler-failure.ts'
import type { HandlerContext } from '../handler.ts'

/**
 * Asks one model after the other until one answers (interface 11.18). The next is asked when one refuses the key or has none, has no
 * capacity, is not there or does not know the model; any other `ModelFailure` is thrown. When all were asked in vain, says what each
 * of them said.
 */
export async function askInTurn(
  configs: readonly LlmConfig[],
  messages: readonly JsonObject[],
  { models, span, signal }: HandlerContext,
): Promise<ChatReply> {
  const failures: string[] = []
  for (const config of configs) {
    try {
      return await models.chat({ ...config, messages, signal }, span)
    } catch (error) {
      if (!(error instanceof ModelFailure) || !isUnavailable(error)) throw error
      failures.push(error.message)
    }
  }
  throw new HandlerFailure(
    'v0:workflows:llm-unavailable',
    ['No model of llms could be called:', ...failures].join('\n'),
  )
}

function isUnavailable({ kind, upstreamStatus }: ModelFailure): boolean {
  return upstreamStatus === 404 || UNAVAILABLE.includes(kind)
}

const UNAVAILABLE: readonly string[] = ['access', 'credential', 'capacity', 'availability']
