import { expect } from 'chai'
import { ADMIN_KEY, type RunningService, startService } from '../support/servers/service.ts'
import { COMPILED, makePrompts } from './prompts-for-clients.ts'

/** Loaded as programs without types load it: only what it does is looked at. */
const PACKAGE: string = '@langfuse/client'

const ONCE = { cacheTtlSeconds: 0, maxRetries: 0 }

describe('the SDK of Langfuse for JavaScript', () => {
  let service: RunningService
  let langfuse: any
  let writer: string
  let sdk: any
  const client = (secretKey: string): any =>
    new sdk.LangfuseClient({ publicKey: 'branchpoint', secretKey, baseUrl: service.url })

  before(async () => {
    // It would print each refusal; it reads this as it is loaded.
    process.env['LANGFUSE_LOG_LEVEL'] = 'NONE'
    sdk = await import(PACKAGE)
    service = await startService()
    writer = await makePrompts(service)
    langfuse = client(ADMIN_KEY)
  })
  after(() => service.stop())

  it('gets a chat, with settings, labels and tags, and fills in its variables and placeholders', async () => {
    const prompt = await langfuse.prompt.get('support-bot', { type: 'chat', ...ONCE })
    expect(prompt).to.deep.include({
      version: 1,
      config: { model: 'gpt-4o-mini', temperature: 0.2 },
      labels: ['production'],
      tags: ['team:support'],
      isFallback: false,
    })
    const history = [
      { role: 'user', content: 'Hello' },
      { role: 'assistant', content: 'Hi' },
    ]
    const compiled = prompt.compile({ question: 'Where?' }, { history })
    expect(compiled).to.deep.equal(COMPILED)
  })

  it('gets a text', async () => {
    const prompt = await langfuse.prompt.get('greeting', { label: 'latest', ...ONCE })
    expect(prompt.compile({ name: 'Ada' })).to.equal('Hello, Ada!')
  })

  it('gets prompts by label and by version', async () => {
    const versionOf = async (asked: { label?: string; version?: number }): Promise<number> =>
      (await langfuse.prompt.get('support-bot', { type: 'chat', ...ONCE, ...asked })).version
    expect(await versionOf({ label: 'staging' })).to.equal(2)
    expect(await versionOf({ version: 1 })).to.equal(1)
    expect(await versionOf({ label: 'latest' })).to.equal(2)
  })

  it('lists prompts', async () => {
    const { data, meta } = await langfuse.api.prompts.list({ limit: 1, page: 2 })
    expect(meta).to.deep.equal({ page: 2, limit: 1, totalItems: 2, totalPages: 2 })
    expect(
      data.map(({ name, versions }: { name: string; versions: number[] }) => [name, versions]),
    ).to.deep.equal([['support-bot', [1, 2]]])
    const found = await langfuse.api.prompts.list({
      tag: 'support',
      label: 'production',
      name: 'support-bot',
    })
    expect(found.data).to.have.length(1)
  })

  it('takes a 404 for what is not there, and then its fallback', async () => {
    for (const name of ['nobody', 'folder/support-bot', '50%', 'x'.repeat(500)])
      expect(await refusal(langfuse.api.prompts.get(name)), name).to.include({ statusCode: 404 })
    const { body } = await refusal(langfuse.api.prompts.get('support-bot', { label: 'nobody' }))
    expect(body).to.include({ code: 'deployment_not_found' })
    expect((body as { message: string }).message).to.match(/labels are staging, production, latest/)
    const instead = await langfuse.prompt.get('nobody', { fallback: 'Instead', ...ONCE })
    expect(instead).to.include({ isFallback: true, prompt: 'Instead' })
  })

  it('takes a 401 for a key that nobody has, a 403 for one without the scope, a 400 for a label and a version', async () => {
    const ask = (key: string, asked = {}) => refusal(client(key).api.prompts.get('support-bot', asked))
    expect(await ask('nobody')).to.include({ statusCode: 401 })
    expect(await ask(writer)).to.include({ statusCode: 403 })
    expect(await ask(ADMIN_KEY, { version: 1, label: 'latest' })).to.include({ statusCode: 400 })
  })
})

interface ApiFailure {
  readonly statusCode?: number
  readonly body?: unknown
}

async function refusal(asked: PromiseLike<unknown>): Promise<ApiFailure> {
  try {
    await asked
  } catch (error) {
    return error as ApiFailure // what the SDK throws
  }
  throw new Error('it was not refused')
}
