import type { JsonObject } from '../../json/json.ts'
import { StreamedOutputs } from '../handler.ts'

/**
 * A reply that comes word by word, in the records of interface 11.24: `message_start`, one `message_delta` a word, `message_end`,
 * `usage`, `done`. A token is a word. As a whole it is what the mock `messages` answers.
 */
export function mockEvents(text: string): StreamedOutputs {
  const message = { role: 'assistant', content: text }
  return new StreamedOutputs(records(text), () => ({ messages: [message] }))
}

async function* records(text: string): AsyncGenerator<JsonObject> {
  // Each word with the space before it, so that the deltas add up to the text.
  const words = text.match(/\s*\S+|\s+$/g) ?? []
  yield { type: 'message_start', data: { role: 'assistant' } }
  for (const content of words) yield { type: 'message_delta', data: { content } }
  yield { type: 'message_end', data: { role: 'assistant', content: text } }
  yield { type: 'usage', data: { prompt: 0, completion: words.length, total: words.length } }
  yield { type: 'done', data: {} }
}
