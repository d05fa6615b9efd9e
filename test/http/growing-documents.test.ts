import { execFileSync } from 'node:child_process'
import { expect } from 'chai'
import { type RunningService, startService } from '../support/servers/service.ts'
import { restsDuring } from '../support/rests.ts'
import { cloneOf } from '../support/git/git-client.ts'

/** Arrays in arrays: a kilobyte of it takes some fifty when indented. */
const deep = (nests: number): string =>
  `[${Array(nests)
    .fill('['.repeat(90) + ']'.repeat(90))
    .join()}]`
const MOST = 64 * 1024

describe('http: documents that would grow by their indentation', () => {
  let service: RunningService
  before(async () => {
    service = await startService({ env: { MAX_BODY_BYTES: String(MOST), MAX_BODY_VALUES: '20000' } })
  })
  after(() => service.stop())

  const git = (slug: string, ...args: string[]): string =>
    execFileSync('git', ['-C', service.repository(slug), ...args], { encoding: 'utf8' })
  const create = (slug: string, parameters: string) =>
    service.post('/simple/workflows/', `{"workflow":{"slug":"${slug}","data":{"parameters":${parameters}}}}`)
  const retrieve = async (slug: string): Promise<string> =>
    (await service.post('/workflows/revisions/retrieve', { workflow_ref: { slug } })).text

  it('are written on one line, the same by every door, and read back', async () => {
    const parameters = `{"a":${deep(100)},"1":1.0}`
    const { body } = await create('deep', parameters)
    const variant = body.workflow.variant_id ?? body.workflow.workflow_variant_id
    const written = `{"parameters":${parameters}}\n`
    expect(git('deep', 'show', 'HEAD:data.json')).to.equal(written)
    const commit = async (revision: string, status = 200): Promise<void> => {
      const sent = `{"workflow_revision_commit":{"workflow_variant_id":"${variant}",${revision}}}`
      const reply = await service.post('/workflows/revisions/commit', sent)
      expect(reply.status, reply.text).to.equal(status)
    }
    await commit(`"data":{"parameters":${parameters}}`)
    await commit('"delta":{"set":{"parameters":{"1":2}}}')
    await commit('"delta":{"set":{"parameters":{"a":[1]}}}')
    await commit(`"delta":{"set":{"parameters":{"1":1.0,"a":${deep(100)}}}}`)
    const blobs = ['HEAD', 'HEAD~1', 'HEAD~3', 'HEAD~4'].map((at) =>
      git('deep', 'rev-parse', `${at}:data.json`),
    )
    expect(new Set([blobs[0], blobs[2], blobs[3]])).to.have.property('size', 1)
    expect(git('deep', 'show', 'HEAD~1:data.json')).to.equal(
      '{\n  "parameters": {\n    "a": [\n      1\n    ],\n    "1": 2\n  }\n}\n',
    )
    expect(await retrieve('deep')).to.include(`"parameters":${parameters}`)
    const refs = (back: number) => ({ slug: 'deep', version: 5 - back })
    const diff = await service.post('/workflows/revisions/diff', { base: refs(1), head: refs(0) })
    expect(diff.status, diff.text).to.equal(200)
    expect(diff.body.diff.patch.map(({ path }: { path: string }) => path)).to.include('/parameters/1')
    expect(diff.body.diff.files[0].diff).to.include('+{"parameters"')
    expect(git('deep', 'fsck', '--strict')).to.equal('')
  })

  it('are indented as ever up to the limit, to the byte', async () => {
    const half = 'x'.repeat(MOST / 2)
    // as in the text of the file: the braces, both keys, their quotes and margins, and the newline at the end
    const around = JSON.stringify({ parameters: { id: half, url: '' } }, null, 2).length + 1
    for (const [slug, length, lines] of [
      ['full', MOST - around, 6],
      ['fuller', MOST - around + 1, 1],
    ] as const) {
      // what is no text, and so is in the file
      const { body } = await create(slug, `{"id":"${half}"}`)
      const workflow_variant_id = body.workflow.variant_id ?? body.workflow.workflow_variant_id
      const delta = { set: { parameters: { url: 'x'.repeat(length) } } }
      const sent = { workflow_revision_commit: { workflow_variant_id, delta } }
      expect((await service.post('/workflows/revisions/commit', sent)).status).to.equal(200)
      expect(git(slug, 'show', 'HEAD:data.json').trim().split('\n')).to.have.length(lines)
    }
  })

  it('are written on one line where tags and meta are what is deep', async () => {
    const meta = `{"a":${deep(100)}}`
    await service.post('/workflows/', `{"workflow":{"slug":"meta","meta":${meta}}}`)
    const record = git('meta', 'show', 'refs/meta/artifact:artifact.json')
    expect(record).to.include(`"meta":${meta}`)
    const found = await service.post('/workflows/query', { workflow: { slug: 'meta' } })
    expect(found.text).to.include(`"meta":${meta}`)
  })

  it('are refused where deltas have made them larger than a body may be', async () => {
    const text = 'x'.repeat(MOST - 1000)
    const { body } = await create('large', `{"a":"${text}"}`)
    const workflow_variant_id = body.workflow.variant_id ?? body.workflow.workflow_variant_id
    const delta = { set: { parameters: { b: text } } }
    const reply = await service.post('/workflows/revisions/commit', {
      workflow_revision_commit: { workflow_variant_id, delta },
    })
    expect(reply.status).to.equal(413)
    expect(reply.body).to.include({ code: 'document_too_large' })
    expect(reply.body.detail).to.include('MAX_DOCUMENT_BYTES').and.include(String(MOST))
    expect(git('large', 'rev-list', '--count', 'HEAD').trim()).to.equal('1')
  })

  it('are refused, as bodies, with more values than MAX_BODY_VALUES, wherever those stand', async () => {
    const many = `[${'1,'.repeat(20_000)}1]`
    for (const body of [
      `{"workflow":{"slug":"many","data":{"parameters":{"a":${many}}}}}`,
      `{"workflow":{"slug":"many","tags":{"a":${many}}}}`,
      many,
    ]) {
      const reply = await service.post('/simple/workflows/', body)
      expect(reply.status, reply.text.slice(0, 300)).to.equal(413)
      expect(reply.body).to.include({ code: 'limit_exceeded' })
      expect(reply.body.detail).to.include('20000')
    }
  })

  it('are refused when pushed with more values', async () => {
    await create('pushed', '{}')
    const clone = await cloneOf(service, 'pushed')
    const many = (count: number): string => `{"parameters":{"a":[${'1,'.repeat(count)}1]}}`
    clone.write('data.json', many(20_000))
    await clone.commit('many')
    expect((await clone.try('push', '-q')).terminal).to.match(/more than 20000 values/)
    clone.write('data.json', many(19_000))
    await clone.git('commit', '-qa', '--amend', '-m', 'fewer')
    await clone.git('push', '-q')
    expect(await retrieve('pushed')).to.include('[1,1,1,1')
  })

  it('never answer with a sentence as long as what was sent', async () => {
    const key = 'k'.repeat(50_000)
    const rows = Array.from({ length: 1000 }, () => ({ a: 1 }))
    for (const [path, body] of [
      ['/simple/testsets/', { testset: { slug: 'x', data: { testcases: rows } } }],
      ['/simple/workflows/', { workflow: { slug: 'x', data: { [key]: 1 } } }],
      ['/simple/workflows/', { workflow: { slug: 'x', data: { url: key } } }],
      ['/workflows/', { workflow: { slug: key } }],
      ['/workflows/', { [key]: 1 }],
      ['/workflows/query', { workflow: Object.fromEntries(Array.from({ length: 5000 }, (_, i) => [i, i])) }],
      ['/workflows/query', { workflow_refs: Array(9000).fill(1) }],
      [
        '/workflows/',
        { workflow: { flags: Object.fromEntries(Array.from({ length: 5000 }, (_, i) => [i, i])) } },
      ],
    ] as const) {
      const reply = await service.post(path, body)
      expect(reply.status).to.equal(422)
      expect(reply.text.length, reply.text.slice(0, 200)).to.be.below(100_000)
      expect(reply.body.errors.length).to.be.at.most(100)
    }
    const many = await service.post('/workflows/query', { workflow_refs: Array(10_001).fill({}) })
    expect(many.status).to.equal(413)
    expect(many.body).to.include({ code: 'limit_exceeded' })
  })
})

describe('http: large documents give turns', () => {
  let service: RunningService
  before(async () => {
    service = await startService()
  })
  after(() => service.stop())

  it('an environment of 10,000 keys, too, while it is taken in and read', async () => {
    const pin = '{"application":{"slug":"bot"},"application_revision":{"slug":"bot","version":1}}'
    const keys = Array.from({ length: 10_000 }, (_, number) => `"k${number}":${pin}`)
    const sent = `{"environment":{"slug":"keys","data":{"references":{${keys.join()}}}}}`
    const { storeDir } = service
    let made: any
    // A look at the clock for each 64 keys, and each finds a slice over.
    expect(
      await restsDuring(async () => (made = await service.post('/simple/environments/', sent))),
    ).to.be.at.least(150)
    expect(made.status, made.text.slice(0, 300)).to.equal(200)
    await service.stop({ keepStore: true })
    let found: any
    // A start follows what is deployed, and may read it before anybody asks.
    const read = async (): Promise<void> => {
      service = await startService({ storeDir })
      found = await service.post('/environments/revisions/retrieve', { environment_ref: { slug: 'keys' } })
    }
    expect(await restsDuring(read)).to.be.at.least(150)
    expect(Object.keys(found.body.environment_revision.data.references)).to.have.length(10_000)
    const odd = sent
      .replace('"k9999":{"application":{"slug":"bot"}', '"k9999":{"application":{"slog":"bot"}')
      .replace('"slug":"keys"', '"slug":"odd"')
    const refused = await service.post('/simple/environments/', odd)
    expect([refused.status, refused.body.code], refused.text.slice(0, 300)).to.deep.equal([
      422,
      'unknown_field',
    ])
    expect(refused.body.errors[0].loc.slice(-3)).to.deep.equal(['k9999', 'application', 'slog'])
  })

  it('while they are read, stored, and answered', async () => {
    const data = `{"parameters":{"a":[${'{},'.repeat(250_000)}{}]}}`
    const sent = `{"workflow":{"slug":"large","data":${data}}}`
    let variant = ''
    const create = async (): Promise<void> => {
      variant = (await service.post('/simple/workflows/', sent)).body.workflow.variant_id
    }
    expect(await restsDuring(create)).to.be.at.least(30)
    const asked = { workflow_ref: { slug: 'large' } }
    expect(await restsDuring(() => service.post('/workflows/revisions/retrieve', asked))).to.be.at.least(10)
    const changed = `{"workflow_revision_commit":{"workflow_variant_id":"${variant}","data":${data.replace('[', '[0,')}}}`
    let committed: any
    const commit = async (): Promise<unknown> =>
      (committed = await service.post('/workflows/revisions/commit', changed))
    expect(await restsDuring(commit)).to.be.at.least(30)
    expect(committed.status, committed.text.slice(0, 500)).to.equal(200)
    const pair = { base: { slug: 'large', version: 1 }, head: { slug: 'large', version: 2 } }
    let found: any
    const diff = async (): Promise<unknown> => (found = await service.post('/workflows/revisions/diff', pair))
    const rests = await restsDuring(diff)
    expect(found.status, found.text.slice(0, 500)).to.equal(200)
    expect(rests).to.be.at.least(100)
    expect(found.body.diff.patch).to.deep.equal([{ op: 'add', path: '/parameters/a/0', value: 0 }])
  })
})
