import { changePrompt, deploy, makePrompt } from '../http/clients/prompts.ts'
import type { RunningService } from '../support/servers/service.ts'

const CHAT = [
  { role: 'system', content: 'You are kind.' },
  { role: 'placeholder', name: 'history' },
  { role: 'user', content: '{{question}}' },
]

/** Two versions of a chat, the first in production, and a text. Answers the secret of a key that may only write. */
export async function makePrompts(service: RunningService): Promise<string> {
  const llm_config = { model: 'gpt-4o-mini', temperature: 0.2 }
  const first = { prompt: { messages: CHAT, llm_config } }
  const variant = await makePrompt(service, 'support-bot', first, { tags: { team: 'support' } })
  await changePrompt(
    service,
    variant,
    { prompt: { messages: [{ role: 'system', content: 'You are brief.' }, ...CHAT.slice(1)], llm_config } },
    'Brief',
  )
  await deploy(service, 'support-bot', 1, 'production')
  await deploy(service, 'support-bot', 2, 'staging')
  await makePrompt(service, 'greeting', {
    prompt: { messages: [{ role: 'user', content: 'Hello, {{name}}!' }] },
  })
  return (await service.post('/keys', { key: { name: 'writer', scopes: ['write'] } })).body.key.secret
}

/** The messages that the first version makes of a question and a history. */
export const COMPILED = [
  { role: 'system', content: 'You are kind.' },
  { role: 'user', content: 'Hello' },
  { role: 'assistant', content: 'Hi' },
  { role: 'user', content: 'Where?' },
]
