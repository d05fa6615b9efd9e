import { expect } from 'chai'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate as pause } from 'node:timers/promises'
import { git, gitBytes } from '../support/git/git-program.ts'
import type { Reply, RunningService } from '../support/servers/service.ts'
import { ADMIN_KEY, startService } from '../support/servers/service.ts'
import { MOST_WAITING_ASIDE } from '../../src/base/scheduling/run-aside.ts'
import { restsDuring } from '../support/rests.ts'
import { isLineFull, keepBusy } from '../base/scheduling/busy-threads.ts'
import type { Clone } from '../support/git/git-client.ts'
import { cloneIn, cloneOf, newFolder, remoteOf } from '../support/git/git-client.ts'

/** What a commit may bring here, and what a stored document may unfold to. */
const MOST = 64 * 1024
const MOST_STORED = 512 * 1024
const ENV = { MAX_DOCUMENT_BYTES: String(MOST), MAX_BODY_BYTES: String(MOST_STORED) }

/** Data that is so many bytes as it is sent, and has no text that lies in a file. */
function dataOf(bytes: number, key = 'url'): object {
  const around = JSON.stringify({ parameters: { [key]: '' } }).length
  return { parameters: { [key]: 'x'.repeat(bytes - around) } }
}

/** Data of many values, which take long to read. */
const manyValues = (count: number): string => `{"parameters":{"list":[${'{"a":1},'.repeat(count)}0]}}`

/** `data.json` that names one text so many times. */
const naming = (times: number): string =>
  JSON.stringify({
    '@svc.format': 2,
    parameters: { list: Array.from({ length: times }, () => ({ '@svc.file': 'parameters/a.md' })) },
  })

function writeNaming(clone: Clone, times: number, text: string): void {
  mkdirSync(join(clone.folder, 'parameters'), { recursive: true })
  clone.write('data.json', naming(times))
  writeFileSync(join(clone.folder, 'parameters/a.md'), text)
}

describe('documents have a bound: what a commit brings', () => {
  let service: RunningService
  before(async () => (service = await startService({ env: ENV })))
  after(() => service.stop())

  const create = (slug: string, data?: object) =>
    service.post('/simple/workflows/', { workflow: { slug, ...(data && { data }) } })
  const commit = (slug: string, more: object, path = '/workflows/revisions/commit') =>
    service.post(path, { workflow_revision_commit: { workflow_variant_ref: { slug }, ...more } })
  const expectTooLarge = ({ status, body, text }: Reply): void => {
    expect([status, body.code], text.slice(0, 300)).to.deep.equal([413, 'document_too_large'])
    expect(body.detail).to.include(String(MOST)).and.to.include('MAX_DOCUMENT_BYTES')
    expect(body.details.limit_bytes).to.equal(MOST)
  }
  const versions = (slug: string): number =>
    Number(git(service.repository(slug), ['rev-list', '--count', 'HEAD']))

  // interface 2.28
  it('as it is sent, to the byte: creates, commits and simple writes', async () => {
    // As it is stored there is a line feed behind it.
    expect((await create('exact', dataOf(MOST - 1))).status).to.equal(200)
    expectTooLarge(await create('larger', dataOf(MOST + 1)))
    expect((await service.get('/workflows/larger')).status).to.equal(404)
    expectTooLarge(await commit('exact', { data: dataOf(MOST + 1) }))
    expectTooLarge(
      await service.post('/simple/queries/', {
        query: {
          slug: 'larger',
          data: { filtering: { conditions: [{ field: 'span_name', value: 'x'.repeat(MOST) }] } },
        },
      }),
    )
    expect(versions('exact')).to.equal(1)
  })

  // interface 2.28
  it('as it is stored, with its texts filled in: also what a delta makes', async () => {
    const text = 'word '.repeat(8000)
    expect((await create('texts', { parameters: { a: text } })).status).to.equal(200)
    expectTooLarge(await commit('texts', { delta: { set: { parameters: { b: text } } } }))
    expect(versions('texts')).to.equal(1)
  })

  // interface 2.28
  it('what comes of a merge', async () => {
    await create('merged', { parameters: { a: 1 } })
    const fork = { workflow_variant: { slug: 'other', workflow_variant_ref: { slug: 'merged' } } }
    const forked = await service.post('/workflows/variants/fork', {
      workflow_variant: { slug: 'other' },
      workflow_variant_ref: { slug: 'merged' },
    })
    expect(forked.status, `${forked.text} ${JSON.stringify(fork)}`).to.equal(200)
    for (const [slug, url] of [
      ['merged', 'url'],
      ['other', 'uri'],
    ] as const) {
      const reply = await commit(slug, { delta: { set: dataOf(40_000, url) } })
      expect(reply.status, reply.text).to.equal(200)
    }
    const reply = await service.post('/workflows/variants/merge', {
      source: { variant: { slug: 'other' } },
      target: { variant: { slug: 'merged' } },
    })
    expectTooLarge(reply)
  })

  // interface 2.28
  it('testsets and environments have bounds of their own', async () => {
    const testcases = [{ data: { text: 'x'.repeat(2 * MOST) } }]
    const testset = await service.post('/simple/testsets/', {
      testset: { slug: 'rows', data: { testcases } },
    })
    expect(testset.status).to.equal(200)
    const references = Object.fromEntries(
      Array.from({ length: 2000 }, (_, n) => [`k${n}`, { application: { slug: `a${n}` } }]),
    )
    const environment = { slug: 'keys', data: { references } }
    const made = await service.post('/simple/environments/', { environment })
    expect(made.status, made.text.slice(0, 300)).to.equal(200)
    expect(JSON.stringify(references).length).to.be.greaterThan(MOST)
  })

  // interface 2.28
  it('a push, each new commit of it', async () => {
    await create('pushed', { parameters: { a: 1 } })
    const clone = await cloneOf(service, 'pushed')
    clone.write('data.json', JSON.stringify(dataOf(MOST + 1)))
    await clone.commit('Larger')
    clone.write('data.json', '{"parameters":{}}\n')
    await clone.commit('Small again')
    const { terminal } = await clone.try('push', '-q')
    expect(terminal).to.include('(document too large)').and.to.include(`more than ${MOST} bytes`)
    await clone.git('reset', '-q', '--hard', 'origin/HEAD')
    writeNaming(clone, 10, 'x'.repeat(MOST / 10))
    await clone.commit('One text ten times')
    expect((await clone.try('push', '-q')).terminal).to.include('(document too large)')
    writeNaming(clone, 8, 'x'.repeat(MOST / 10))
    await clone.git('commit', '-qa', '--amend', '-m', 'One text eight times')
    await clone.git('push', '-q')
    expect(versions('pushed')).to.equal(2)
  })

  it('a push, also behind the first parents of a merge', async () => {
    await create('sides', { parameters: { a: 1 } })
    const clone = await cloneOf(service, 'sides')
    await clone.git('checkout', '-q', '-b', 'side')
    clone.write('data.json', JSON.stringify(dataOf(MOST + 1)))
    await clone.commit('Larger')
    await clone.git('checkout', '-q', 'sides')
    await clone.git('merge', '-q', '--no-ff', '-s', 'ours', '-m', 'Ours', 'side')
    expect((await clone.try('push', '-q', 'origin', 'sides')).terminal).to.include('(document too large)')
  })

  // interface 2.29
  it('a first push may bring what an earlier version could store, and nothing larger', async () => {
    expect((await service.post('/workflows/', { workflow: { slug: 'moved' } })).status).to.equal(200)
    const clone = cloneIn(newFolder())
    await clone.git('init', '-q', '-b', 'moved', '.')
    await clone.git('remote', 'add', 'origin', remoteOf(service, 'moved'))
    writeNaming(clone, 1000, 'x'.repeat(1000))
    await clone.commit('A text of a kilobyte a thousand times')
    const refused = await clone.try('push', '-q', 'origin', 'moved')
    expect(refused.terminal).to.include('(document too large)').and.to.include(String(MOST_STORED))
    writeNaming(clone, 100, 'x'.repeat(1000))
    await clone.git('commit', '-qa', '--amend', '-m', 'A hundred times')
    await clone.git('branch', 'second')
    await clone.git('push', '-q', 'origin', 'moved', 'second')
    clone.write('data.json', naming(99))
    await clone.commit('Later')
    expect((await clone.try('push', '-q', 'origin', 'moved')).terminal).to.include('(document too large)')
    await clone.git('reset', '-q', '--hard', 'HEAD~1')
    clone.write('README.md', 'What this is')
    await clone.commit('Nothing of it')
    await clone.git('push', '-q', 'origin', 'moved')
    expect(versions('moved')).to.equal(2)
  })

  it('a first push is checked as every other, however large it is', async () => {
    expect((await service.post('/workflows/', { workflow: { slug: 'odd' } })).status).to.equal(200)
    const clone = cloneIn(newFolder())
    await clone.git('init', '-q', '-b', 'odd', '.')
    await clone.git('remote', 'add', 'origin', remoteOf(service, 'odd'))
    clone.write('data.json', JSON.stringify({ ...dataOf(2 * MOST), unknown: 1 }))
    await clone.commit('Odd')
    const { terminal } = await clone.try('push', '-q', 'origin', 'odd')
    expect(terminal).to.include('unknown').and.to.include('(payload refused)')
    clone.write('data.json', JSON.stringify({ ...dataOf(2 * MOST), uri: 'svc:builtin:nothing:v0' }))
    await clone.git('commit', '-qa', '--amend', '-m', 'Unknown handler')
    expect((await clone.try('push', '-q', 'origin', 'odd')).terminal.replaceAll(/\s+/g, ' ')).to.include(
      'is not a handler of this service',
    )
  })
})

describe('documents have a bound: what is stored and larger', () => {
  let service: RunningService
  const large = manyValues(15_000)
  const larger = manyValues(16_000)
  /** What is latest of these is large: one for each way of reading that is left, since what was opened once is kept. */
  const LATEST = ['latest-flat', 'latest-embedding']

  before(async () => {
    // An earlier version, which took it.
    service = await startService({ env: { MAX_BODY_BYTES: String(MOST_STORED) } })
    for (const data of [large, larger, '{"parameters":{"a":1}}']) {
      const sent = `{"workflow":{"slug":"large","data":${data}}}`
      const isFirst = data === large
      const commit = `{"workflow_revision_commit":{"workflow_variant_ref":{"slug":"large"},"data":${data}}}`
      const reply = isFirst
        ? await service.post('/simple/workflows/', sent)
        : await service.post('/workflows/revisions/commit', commit)
      expect(reply.status, reply.text.slice(0, 300)).to.equal(200)
    }
    for (const slug of LATEST) {
      const list = `{"a":"@{{workflow.slug=large}}"},${'{"a":1},'.repeat(15_000)}0`
      const sent = `{"workflow":{"slug":"${slug}","data":{"parameters":{"list":[${list}]}}}}`
      expect((await service.post('/simple/workflows/', sent)).status).to.equal(200)
    }
    const { storeDir } = service
    await service.stop({ keepStore: true })
    service = await startService({ storeDir, env: ENV })
  })
  after(() => service.stop())

  const at = (version: number) => ({ slug: 'large', version })
  const retrieve = (version: number) =>
    service.post('/workflows/revisions/retrieve', { workflow_revision_ref: at(version) })
  const expectRefused = ({ status, body, text }: Reply): void => {
    expect([status, body.code], text.slice(0, 300)).to.deep.equal([413, 'document_too_large'])
    expect(body.detail).to.include(`git clone ${service.url}/git/workflows/large.git`)
    expect(body.details.git_url).to.equal(`${service.url}/git/workflows/large.git`)
  }

  it('is read as it was sent, in lists too, and not in the thread of the server', async () => {
    let reply: Reply | undefined
    const rests = await restsDuring(async () => (reply = await retrieve(1)))
    expect(reply?.text).to.include(`"data":${large}`)
    expect(reply?.body.workflow_revision.flags).to.include({ has_url: false })
    // Read here, 15,000 values take a rest each few hundred.
    expect(rests).to.be.below(5)
    const listed = await service.post('/workflows/revisions/query', { workflow_ref: { slug: 'large' } })
    expect(listed.body.count, listed.text.slice(0, 300)).to.equal(3)
    expect(listed.text).to.include(large)
    const log = await service.post('/workflows/revisions/log', {
      workflow: { workflow_variant_ref: { slug: 'large' } },
      include_data: true,
    })
    expect(log.text).to.include(larger)
  })

  // interface 2.29
  it('is deployed, and retrieved through its environment', async () => {
    const deployed = await service.post('/workflows/revisions/deploy', {
      environment_ref: { slug: 'staging' },
      workflow_revision_ref: at(2),
    })
    expect(deployed.status, deployed.text).to.equal(200)
    const reply = await service.post('/workflows/revisions/retrieve', {
      environment_ref: { slug: 'staging' },
      workflow_ref: { slug: 'large' },
    })
    expect(reply.text).to.include(larger)
  })

  it('is refused to whom a thread is of no use, with the address of the clone', async () => {
    expectRefused(await service.post('/workflows/revisions/diff', { base: at(1), head: at(2) }))
    expectRefused(await service.post('/workflows/revisions/resolve', { workflow_revision_ref: at(1) }))
    expectRefused(await service.post('/workflows/revisions/revert', { revision: at(3) }))
    const invoked = await service.post('/services/invoke', {
      references: { workflow_revision: at(1) },
      data: { inputs: {} },
    })
    expectRefused(invoked)
    const clone = await cloneOf(service, 'large')
    expect(await clone.git('rev-list', '--count', 'HEAD')).to.equal('3')
  })

  it('is refused while very many are read already, and waited for by nobody who left', async () => {
    const body = { workflow: { workflow_variant_ref: { slug: 'large' } }, include_data: true }
    const ask = (signal?: AbortSignal): Promise<Response> =>
      fetch(`${service.url}/workflows/revisions/log`, {
        method: 'POST',
        headers: { authorization: `ApiKey ${ADMIN_KEY}`, 'content-type': 'application/json' },
        body: JSON.stringify(body),
        ...(signal && { signal }),
      })
    // What finds words reads large documents, too: it is done before a search is answered, and takes no place in the line then.
    await service.post('/search', { query: 'anything' })
    const end = keepBusy(MOST_WAITING_ASIDE - 1)
    try {
      const gone = new AbortController()
      const left = ask(gone.signal).catch((error: unknown) => error)
      while (!(await isLineFull())) await pause()
      const refused = await service.post('/workflows/revisions/log', body)
      expect([refused.status, refused.body.code], refused.text).to.deep.equal([503, 'overloaded'])
      gone.abort()
      expect(await left).to.include({ name: 'AbortError' })
      while (await isLineFull()) await pause()
    } finally {
      await end()
    }
    expect(await (await ask()).text()).to.include(larger)
  })

  for (const [what, path, body] of [
    ['a list of artifacts', '/simple/workflows/query', { workflow_refs: [{ slug: 'latest-flat' }] }],
    ['what depends on another', '/workflows/revisions/dependents', { workflow_ref: { slug: 'large' } }],
  ] as const)
    it(`is waited for by nobody who left, also where ${what} was asked for`, async () => {
      await service.post('/search', { query: 'anything' })
      const end = keepBusy(MOST_WAITING_ASIDE - 1)
      try {
        const gone = new AbortController()
        const left = fetch(`${service.url}${path}`, {
          method: 'POST',
          headers: { authorization: `ApiKey ${ADMIN_KEY}`, 'content-type': 'application/json' },
          body: JSON.stringify(body),
          signal: gone.signal,
        }).catch((error: unknown) => error)
        while (!(await isLineFull())) await pause()
        gone.abort()
        expect(await left).to.include({ name: 'AbortError' })
        while (await isLineFull()) await pause()
      } finally {
        await end()
      }
      const reply = await service.post(path, body)
      expect([reply.status, reply.body.count], reply.text.slice(0, 300)).to.deep.equal([
        200,
        // What depends on it are two that embed it, and the environment that it is deployed in.
        path.endsWith('query') ? 1 : 3,
      ])
    })

  it('is followed by smaller data, whoever brings it', async () => {
    const fork = await service.post('/workflows/variants/fork', {
      workflow_variant: { slug: 'smaller' },
      workflow_revision_ref: at(2),
    })
    expect(fork.status, fork.text).to.equal(200)
    const ref = { workflow_variant_ref: { slug: 'smaller' } }
    const delta = { workflow_revision_commit: { ...ref, delta: { set: { parameters: { b: 1 } } } } }
    expectRefused(await service.post('/workflows/revisions/commit', delta))
    const data = { workflow_revision_commit: { ...ref, data: { parameters: { prompt: 'a\nb' } } } }
    const committed = await service.post('/workflows/revisions/commit', data)
    expect(committed.status, committed.text).to.equal(200)
    expect(committed.body.workflow_revision).to.include({ version: 3, subject: 'Change data' })
    const clone = await cloneOf(service, 'large', { args: ['-b', 'large'] })
    await clone.git('reset', '-q', '--hard', 'HEAD~1')
    await clone.git('checkout', '-q', '-b', 'pushed')
    clone.write('data.json', '{"parameters":{"c":1}}\n')
    await clone.commit('Smaller')
    await clone.git('push', '-q', 'origin', 'pushed')
  })

  it('says what embeds others', async () => {
    const { storeDir } = service
    await service.stop({ keepStore: true })
    service = await startService({ storeDir, env: { MAX_BODY_BYTES: String(MOST_STORED) } })
    await service.post('/simple/workflows/', {
      workflow: { slug: 'tone', data: { parameters: { voice: 'kind' } } },
    })
    const embed = { '@svc.embed': { '@svc.references': { workflow: { slug: 'tone' } } } }
    const data = { parameters: { tone: embed, ...(JSON.parse(large) as { parameters: object }).parameters } }
    await service.post('/simple/workflows/', { workflow: { slug: 'embeds', data } })
    await service.stop({ keepStore: true })
    service = await startService({ storeDir, env: ENV })
    const { body, text } = await service.post('/workflows/revisions/dependents', {
      workflow_ref: { slug: 'tone' },
    })
    expect(body.count, text).to.equal(1)
    expect(body.dependents[0].locations).to.deep.equal([['parameters', 'tone']])
  })

  it('comes back from a backup, and nothing larger does', async () => {
    const copy = newFolder()
    git(copy, ['clone', '-q', '--mirror', service.repository('large'), '.'])
    const other = await startService({ env: ENV })
    try {
      const bundle = (): Promise<Response> =>
        fetch(`${other.url}/git/workflows/large.git?head=refs/heads/large`, {
          method: 'PUT',
          headers: { authorization: `ApiKey ${ADMIN_KEY}`, 'content-type': 'application/x-git-bundle' },
          body: new Uint8Array(bundleOf(copy)),
        })
      const work = cloneIn(newFolder())
      await work.git('clone', '-q', copy, '.')
      await work.git('checkout', '-q', '--orphan', 'bomb')
      writeNaming(work, 1000, 'x'.repeat(1000))
      await work.commit('A text of a kilobyte a thousand times')
      await work.git('push', '-q', 'origin', 'HEAD:refs/tags/bomb')
      const refused = await bundle()
      expect(refused.status).to.equal(422)
      expect(await refused.text()).to.include(`more than ${MOST_STORED} bytes`)
      git(copy, ['update-ref', '-d', 'refs/tags/bomb'])
      const restored = await bundle()
      expect(restored.status, await restored.text()).to.equal(200)
      const reply = await other.post('/workflows/revisions/retrieve', { workflow_revision_ref: at(1) })
      expect(reply.text).to.include(large)
    } finally {
      await other.stop()
    }
  })

  it('of a text that is named again and again is refused before it is filled in', async () => {
    await service.post('/simple/workflows/', { workflow: { slug: 'named', data: { parameters: { a: 1 } } } })
    const clone = await cloneOf(service, 'named')
    writeNaming(clone, 1000, 'x'.repeat(400_000))
    await clone.commit('400 MB in 15 KB')
    git(service.repository('named'), ['fetch', '-q', clone.folder, 'named:named'])
    const named = await service.post('/workflows/revisions/retrieve', {
      workflow_variant_ref: { slug: 'named' },
    })
    expect([named.status, named.body.code], named.text.slice(0, 300)).to.deep.equal([
      413,
      'document_too_large',
    ])
    expect(named.body.details).to.deep.equal({
      limit_bytes: MOST_STORED,
      git_url: `${service.url}/git/workflows/named.git`,
    })
    const listed = await service.post('/workflows/revisions/query', {
      workflow_revision: { slug: 'named-2' },
    })
    expect(listed.status, listed.text.slice(0, 300)).to.equal(200)
    const flat = await service.post('/simple/workflows/query')
    expect(flat.status).to.equal(200)
    const mended = await service.post('/workflows/revisions/commit', {
      workflow_revision_commit: { workflow_variant_ref: { slug: 'named' }, data: { parameters: { a: 2 } } },
    })
    expect(mended.status, mended.text).to.equal(200)
    expect(git(service.repository('named'), ['ls-tree', '-r', '--name-only', 'named'])).to.equal('data.json')
  })
})

/** A bundle (gitformat-bundle(5)) of all refs of the repository. */
function bundleOf(copy: string): Buffer {
  return gitBytes(copy, ['bundle', 'create', '-q', '-', '--all'])
}
