import type { Json, JsonObject } from '../../json/json.ts'
import type { ChatReply } from '../../models/models.ts'
import type { HandlerContext, HandlerRequest, HandlerResult } from '../handler.ts'
import { callPrompt } from './call-prompt.ts'
import type { PreparedPrompt } from './prepared-prompt.ts'
import { streamPrompt } from './stream-prompt.ts'

/**
 * Sends a prompt's messages and answers the outputs that `outputsOf` makes of the reply: whole, or piece by piece to those who want
 * that.
 */
export async function answerPrompt(
  prompt: PreparedPrompt,
  messages: readonly JsonObject[],
  request: HandlerRequest,
  context: HandlerContext,
  outputsOf: (reply: ChatReply) => Json,
): Promise<HandlerResult> {
  if (request.wantsStream) return streamPrompt(prompt, messages, context, outputsOf)
  return outputsOf(
    await callPrompt(prompt, messages, context, (call) => context.models.chat(call, context.span)),
  )
}
