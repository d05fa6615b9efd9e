import { getKey, type Json } from '../../json/json.ts'
import type { ChatReply } from '../../models/models.ts'
import { failureOfPrompt } from '../failure-of-prompt.ts'
import type { Handler } from '../handler.ts'
import { answerPrompt } from './answer-prompt.ts'
import { preparedPrompt } from './prepared-prompt.ts'

/**
 * One prompt, one reply (`svc:builtin:completion:v0`, contract/handlers 2.10): the reply's text, which is left as text even where a
 * schema was asked for; else why the model would not; else the tools it calls.
 */
export const completion: Handler = async (request, context) => {
  try {
    const prompt = preparedPrompt(request)
    return await answerPrompt(prompt, prompt.messages, request, context, outputsOf)
  } catch (error) {
    throw failureOfPrompt(error)
  }
}

function outputsOf({ message }: ChatReply): Json {
  return getKey(message, 'content') ?? getKey(message, 'refusal') ?? getKey(message, 'tool_calls') ?? ''
}
