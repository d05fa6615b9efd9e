import {
  getKey,
  hasKey,
  isJsonArray,
  isJsonObject,
  type Json,
  type JsonObject,
  withKey,
  withoutKey,
} from '../../../base/json.ts'
import type { ChatReply } from '../../models/models.ts'
import { openObject } from '../../../registry/workflows.ts'
import { failureOfPrompt } from '../failure-of-prompt.ts'
import { invalidInput } from '../handler-failure.ts'
import type { HandlerContext, HandlerDefinition, HandlerRequest, HandlerResult } from '../handler.ts'
import { answerPrompt, preparedPrompt } from './answer-prompt.ts'
import { messageList, oneMessage, promptParameters } from './prompt-schemas.ts'

/**
 * A prompt with many turns (`svc:builtin:chat:v0`, interface 11.18): the conversation so far,
 * `inputs.messages`, follows the prompt unchanged. Answers the next message; a refusal becomes its content.
 */
export const chat: HandlerDefinition = {
  key: 'chat',
  kind: 'builtin',
  schemas: {
    parameters: promptParameters(),
    inputs: openObject({ messages: messageList }),
    outputs: oneMessage,
  },
  template: {
    name: 'chat',
    description: 'A prompt that leads a conversation: the messages so far come with every request.',
    roles: 'application',
    categories: ['builtin'],
  },
  run,
}

async function run(request: HandlerRequest, context: HandlerContext): Promise<HandlerResult> {
  try {
    const prompt = preparedPrompt(request, ['messages'])
    const messages = [...prompt.messages, ...historyOf(prompt.inputs)]
    return await answerPrompt(prompt, messages, request, context, outputsOf)
  } catch (error) {
    throw failureOfPrompt(error)
  }
}

function historyOf(inputs: JsonObject | undefined): readonly JsonObject[] {
  const said = (inputs && getKey(inputs, 'messages')) ?? []
  if (!isJsonArray(said)) throw invalidInput('messages', 'list', said)
  return said.map((message, index) => {
    if (isJsonObject(message)) return message
    throw invalidInput(`messages[${index}]`, 'dict', message)
  })
}

function outputsOf({ message }: ChatReply): Json {
  const refusal = getKey(message, 'refusal')
  const rest = withoutKey(message, 'refusal')
  return refusal === undefined || hasKey(rest, 'content') ? rest : withKey(rest, 'content', refusal)
}
