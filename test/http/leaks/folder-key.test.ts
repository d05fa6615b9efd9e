import { expect } from 'chai'
import { createApiKey } from '../../../src/access/keys/api-keys.ts'
import { nodeFs } from '../../../src/storage/files/node-fs.ts'
import { runBesides } from '../../support/git/small-process.ts'
import { cloneIn, newFolder, remoteOf } from '../../support/git/git-client.ts'
import { type Operation, readApiDocument } from '../../support/clients/api-document.ts'
import { type Reply, type RunningService, startService } from '../../support/servers/service.ts'
import { fill, MARK, must, type Side } from './known-things.ts'
import { requestsOf, type Sent } from './requests.ts'

const OWN = 'mine'
/** As long as MARK, and nowhere. */
const ABSENT = 'ABSENT'
const REQUESTS_AT_ONCE = 6

describe('a key that is limited to a folder', () => {
  let service: RunningService
  let token = ''
  let outside: Side
  let own: Side

  before(async () => {
    service = await startService({ env: { WEBHOOK_ALLOW_PRIVATE: 'true', EVENTS_AT_ONCE: '10' } })
    const create = (slug: string, data: object = {}) =>
      must(service.post('/simple/workflows', { workflow: { slug, name: MARK, folder: MARK, data } }))
    const filters = { artifacts: [{ slug: `${MARK}.application` }] }
    await must(service.post('/webhooks', { webhook: { url: 'http://127.0.0.1:9/', name: MARK, filters } }))
    outside = await fill(service, MARK, MARK)
    own = await fill(service, 'support/tier-1', OWN)
    // What is outside embeds and judges what is not, and lies in the trash, too.
    await create(`${MARK}.embedding`, {
      parameters: { text: `@{{workflow.slug=${OWN}.workflow, path=n}} ${MARK}` },
    })
    await must(
      service.post('/evaluations/run', {
        testset_ref: { slug: `${MARK}.testset` },
        application_ref: { slug: `${OWN}.application` },
        evaluator_refs: [{ slug: `${MARK}.evaluator` }],
      }),
    )
    await create(`${MARK}.gone`)
    await must(service.call('DELETE', `/simple/workflows/${MARK}.gone`))
    const key = await createApiKey(nodeFs, service.storeDir, {
      project: 'default',
      name: 'limited',
      scopes: ['read', 'write', 'deploy', 'invoke'],
      folders: ['support/**'],
    })
    token = key.token
  })
  after(() => service.stop())

  const send = ({ method, path, body, headers }: Sent): Promise<Reply> =>
    service.call(method, path, body, { authorization: `ApiKey ${token}`, ...headers })

  /** Sends several requests at a time, in their order. */
  const sendAll = async (
    requests: Iterable<Sent>,
    look: (request: Sent, reply: Reply) => void | Promise<void>,
  ): Promise<void> => {
    const queue = requests[Symbol.iterator]()
    const work = async (): Promise<void> => {
      for (let next = queue.next(); !next.done; next = queue.next())
        await look(next.value, await send(next.value))
    }
    await Promise.all(Array.from({ length: REQUESTS_AT_ONCE }, work))
  }

  /** An answer without the names that the request itself sent. */
  const learnt = ({ path, body }: Sent, { headers, text }: Reply): string => {
    const sent = `${decodeURIComponent(path)} ${JSON.stringify(body)}`
    const words = [...new Set(sent.match(new RegExp(`${MARK}[A-Za-z0-9._-]*`, 'g')) ?? [])]
    return words
      .sort((a, b) => b.length - a.length)
      .reduce((rest, word) => rest.replaceAll(word, ''), JSON.stringify([...headers]) + text)
  }

  // interface 18.6, 18.7, 18.8, 18.9
  it('learns no byte of what lies elsewhere, over any route, by any form of reference, nor that it is there', async () => {
    const operations = (await readApiDocument(service.url)).operations.filter(({ isEndless }) => !isEndless)
    const leaks: string[] = []
    const reached = new Set<string>()
    let count = 0
    const about = ({ method, path, body }: Sent): string => `${method} ${path} ${JSON.stringify(body)}`
    // What is its own is read, because what it sees there may tell of others.
    const requests = [
      ...operations.flatMap((it) => [...requestsOf(it, outside)]),
      ...operations.filter(isRead).flatMap((it) => [...requestsOf(it, own)]),
    ]
    const twins = new Twins(outside)
    await sendAll(distinct(requests), async (request, reply) => {
      count++
      const isUnread = reply.status === 400 || (reply.status === 422 && reply.body?.code !== 'unrelated')
      if (!isUnread) reached.add(request.operation)
      const all = learnt(request, reply)
      if (all.includes(MARK) || reply.status >= 500)
        leaks.push(`${about(request)}: ${reply.status} ${all.slice(0, 600)}`)
      const twin = IS_WRITTEN.test(request.operation) ? undefined : twins.of(request)
      if (!twin) return
      const other = await send(twin)
      if (other.status !== reply.status || twins.plain(other.text) !== twins.plain(reply.text))
        leaks.push(
          `${about(request)}: ${reply.status} ${reply.text.slice(0, 400)} / ${other.status} ${other.text.slice(0, 400)}`,
        )
    })
    expect(leaks.slice(0, 20), `${leaks.length} of ${count}`).to.deep.equal([])
    // A request that is refused for its form says nothing: each route has one that is read, so that a new one is tried, too.
    expect(operations.map(({ name }) => name).filter((name) => !reached.has(name))).to.deep.equal([])
    expect(count).to.be.above(3000)
  }).timeout(300_000)

  // interface 18.6, 18.9
  it('clones, fetches and lists only what is its own, and nothing there tells of others', async () => {
    for (const { plural, artifact } of own.things) {
      const family = ['applications', 'evaluators'].includes(plural) ? 'workflows' : plural
      const { git } = cloneIn(newFolder())
      await git('clone', '-q', '--mirror', remoteOf(service, artifact[1], family, token), '.')
      const objects = await git('rev-list', '--objects', '--all', '--no-object-names')
      const cwd = await git('rev-parse', '--absolute-git-dir')
      const call = { command: 'git', args: ['cat-file', '--batch'], cwd, env: process.env, input: objects }
      const { output } = await runBesides(call)
      expect(`${await git('show-ref')}${String(output)}`)
        .to.contain(OWN)
        .and.not.contain(MARK)
    }
    for (const { plural, artifact } of outside.things) {
      const family = ['applications', 'evaluators'].includes(plural) ? 'workflows' : plural
      for (const service_ of ['git-upload-pack', 'git-receive-pack']) {
        const at = (slug: string) =>
          service.get(`/git/${family}/${slug}.git/info/refs?service=${service_}`, {
            authorization: `ApiKey ${token}`,
          })
        const [reply, other] = [await at(artifact[1]), await at(`${ABSENT}.x`)]
        expect([reply.status, other.status]).to.deep.equal([404, 404])
        expect(reply.text.replaceAll(artifact[1], '')).to.equal(other.text.replaceAll(`${ABSENT}.x`, ''))
      }
    }
    const environment = await service.get(
      '/git/environments/production.git/info/refs?service=git-upload-pack',
      { authorization: `ApiKey ${token}` },
    )
    expect([environment.status, environment.body.code]).to.deep.equal([403, 'outside_folders'])
  })

  // interface 18.6
  it('is told as an agent what is its own alone', async () => {
    const ask = (method: string, params: object = {}): Promise<Reply> =>
      service.post(
        '/mcp?tools=deploy',
        { jsonrpc: '2.0', id: 1, method, params },
        {
          authorization: `ApiKey ${token}`,
          accept: 'application/json, text/event-stream',
        },
      )
    const call = (name: string, args: object): Promise<Reply> => ask('tools/call', { name, arguments: args })
    const prompt = `${MARK}.application`
    for (const [request, reply] of [
      ['prompts/list', await ask('prompts/list')],
      ['resources/list', await ask('resources/list')],
      ['prompts_search', await call('prompts_search', { query: MARK })],
      ...(await Promise.all(
        ['prompts_get', 'prompts_log'].map(
          async (name) => [name, await call(name, { name: prompt })] as const,
        ),
      )),
      ['resources/read', await ask('resources/read', { uri: `branchpoint://applications/${prompt}` })],
    ] as const) {
      expect(reply.status, `${request} ${reply.text}`).to.equal(200)
      expect(reply.text.replaceAll(prompt, ''), request).to.not.contain(MARK)
    }
    const mine = await call('prompts_get', { name: `${OWN}.application` })
    expect(mine.text).to.contain('svc:custom:code:v0')
  })

  // interface 13.8, 18.9
  it('is told live of what is its own alone', async () => {
    const gone = new AbortController()
    const answer = await fetch(`${service.url}/events`, {
      headers: { authorization: `ApiKey ${token}` },
      signal: gone.signal,
    })
    const [theirs, mine] = [outside, own].map(({ things }) =>
      things.find(({ singular }) => singular === 'application'),
    )
    for (const it of [theirs, mine])
      await must(
        service.post('/applications/revisions/commit', {
          application_revision_commit: {
            variant_id: it?.variant[0],
            message: it === theirs ? MARK : 'ours',
            data: { parameters: { n: 1 } },
            deploy: ['staging'],
          },
        }),
      )
    await must(
      service.post('/applications/revisions/deploy', {
        application_ref: { slug: theirs?.artifact[1] },
        environment_ref: { slug: 'staging' },
        message: MARK,
      }),
    )
    await must(service.put(`/applications/${mine?.artifact[0]}`, { application: { description: 'the end' } }))
    let text = ''
    for await (const piece of answer.body as unknown as AsyncIterable<Uint8Array>) {
      text += Buffer.from(piece).toString()
      if (text.includes('"action":"edited"')) break
    }
    gone.abort()
    expect(text).to.contain(mine?.artifact[0]).and.contain('"environment"').and.not.contain(MARK)
    expect(text).to.not.contain(theirs?.artifact[0])
  })
})

/** Asks for something and stores nothing, or is refused before that because it names what is not seen. */
function isRead({ method, path }: Pick<Operation, 'method' | 'path'>): boolean {
  return (
    method === 'GET' || /\/(query|retrieve|log|graph|diff|compare|search|history|resolve|inspect)$/.test(path)
  )
}

/** Two requests after each other differ, whatever they name: a slug is free only once, and figures move. */
const IS_WRITTEN =
  /^(PUT|DELETE)|^GET \/metrics|^POST \/(simple\/)?\w+$|\/(variants|upload|fork|keys|sessions|move)\b/

/** The same requests for what is not there. */
class Twins {
  /** By an id, one that nothing has. */
  readonly #ids: ReadonlyMap<string, string>

  constructor({ things }: Side) {
    const ids = things.flatMap(({ artifact, variant, revision, row = [] }) =>
      [artifact[0], variant[0], revision[0], row[0]].flatMap((it) => it ?? []),
    )
    // The digits of a UUID's version and variant stay.
    const absent = (id: string): string =>
      id.replaceAll(/[0-9a-f]/g, (digit) => (/[478]/.test(digit) ? digit : 'b'))
    this.#ids = new Map(
      ids.flatMap((id) => [
        [id, absent(id)],
        [id.replaceAll('-', ''), absent(id).replaceAll('-', '')],
      ]),
    )
  }

  /** The request with each name replaced; undefined if it names nothing. */
  of(request: Sent): Sent | undefined {
    const { path, body } = request
    const sent = { path, body: body ?? null }
    const text = JSON.stringify(sent)
    const other = this.#instead(text)
    if (other === text) return undefined
    const twin = JSON.parse(other) as typeof sent
    return { ...request, path: twin.path, ...(twin.body === null ? {} : { body: twin.body }) }
  }

  /** An answer without what is of one request alone. */
  plain(text: string): string {
    return this.#instead(text).replaceAll(/"(trace_id|span_id|session_id|date|created_at|id)":"[^"]*"/g, '')
  }

  #instead(text: string): string {
    return [...this.#ids].reduce(
      (rest, [id, other]) => rest.replaceAll(id, other),
      text.replaceAll(MARK, ABSENT),
    )
  }
}

function distinct(requests: readonly Sent[]): Sent[] {
  return [...new Map(requests.map((it) => [JSON.stringify([it.method, it.path, it.body]), it])).values()]
}
