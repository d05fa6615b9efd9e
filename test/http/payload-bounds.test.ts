import { expect } from 'chai'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { git } from '../support/git/git-program.ts'
import type { RunningService } from '../support/servers/service.ts'
import { startService } from '../support/servers/service.ts'
import { cloneOf } from '../support/git/git-client.ts'

const members = <T>(count: number, member: (number: number) => T): Record<string, T> =>
  Object.fromEntries(Array.from({ length: count }, (_, number) => [`k${number}`, member(number)]))

const pin = { application: { slug: 'bot' }, application_variant: { slug: 'bot' } }

/** What is past a bound, where, and what the sentence says. */
const WORKFLOWS: Readonly<Record<string, readonly [data: object, place: string, says: RegExp]>> = {
  'many properties of a schema': [
    { schemas: { inputs: { type: 'object', properties: members(5001, () => ({ type: 'string' })) } } },
    'schemas',
    /at most 10000 values/,
  ],
  'many values in three schemas': [
    { schemas: { inputs: { enum: Array(6000).fill(0) }, outputs: { enum: Array(6000).fill(0) } } },
    'schemas',
    /at most 10000 values/,
  ],
  'long patterns': [
    { schemas: { inputs: { anyOf: Array.from({ length: 11 }, () => ({ pattern: 'x'.repeat(10_000) })) } } },
    'inputs',
    /patterns of at most 100000 characters/,
  ],
  'many headers': [{ headers: members(1001, () => 'x') }, 'headers', /at most 1000, but there are 1001/],
}

describe('payloads over HTTP: what has a bound', () => {
  let service: RunningService
  before(async () => (service = await startService()))
  after(() => service.stop())

  const workflow = (slug: string, data: object) =>
    service.post('/simple/workflows', { workflow: { slug, data } })
  const environment = (slug: string, references: object) =>
    service.post('/simple/environments', { environment: { slug, data: { references } } })

  it('takes what is within it', async () => {
    const properties = members(4000, () => ({ type: 'string' }))
    const schemas = {
      inputs: { type: 'object', properties, patternProperties: { 'x+': { type: 'string' } } },
    }
    const { status, text } = await workflow('within', { schemas, headers: members(1000, () => 'x') })
    expect(status, text.slice(0, 500)).to.equal(200)
    expect(
      (
        await environment(
          'within',
          members(10_000, () => pin),
        )
      ).status,
    ).to.equal(200)
  })

  for (const [what, [data, place, says]] of Object.entries(WORKFLOWS)) {
    it(`refuses ${what}`, async () => {
      const { status, body } = await workflow('beyond', data)
      expect([status, body.code]).to.deep.equal([422, 'invalid_request'])
      expect(body.errors).to.have.length(1)
      expect(body.errors[0].loc.at(-1)).to.equal(place)
      expect(body.errors[0].msg).to.match(says)
    })
  }

  it('names the first of many unknown keys, and counts the others', async () => {
    for (const [count, others] of [
      [100, ''],
      [101, 'and 1 more problems'],
      [50_000, 'and 49900 more problems'],
    ] as const) {
      const { status, body } = await workflow(
        'beyond',
        members(count, () => 0),
      )
      expect(status).to.equal(422)
      expect(body.errors).to.have.length(100)
      expect(/and \d+ more problems/.exec(body.detail)?.[0] ?? '', `${count}`).to.equal(others)
    }
  })

  it('names the first of many wrong members of a list, and counts the others', async () => {
    for (const [count, listed, others] of [
      [100, 100, ''],
      [101, 100, 'and 1 more problems'],
      [150, 100, 'and 50 more problems'],
    ] as const) {
      const workflow_refs = Array.from({ length: count }, () => 7)
      const { status, body } = await service.post('/workflows/query', { workflow_refs })
      expect([status, body.errors?.length]).to.deep.equal([422, listed])
      expect(/and \d+ more problems/.exec(body.detail)?.[0] ?? '', `${count}`).to.equal(others)
    }
  })

  it('refuses environments of many keys or references, however they come', async () => {
    for (const references of [
      members(10_001, () => pin),
      { one: members(30_001, () => ({ slug: 'bot' })) },
    ]) {
      const { status, body } = await environment('beyond', references)
      expect([status, body.code, body.errors[0].type]).to.deep.equal([422, 'invalid_request', 'too_long'])
    }
    const { variant_id } = (
      await environment(
        'grown',
        members(9999, () => pin),
      )
    ).body.environment
    const commit = (delta: object) =>
      service.post('/environments/revisions/commit', {
        environment_revision_commit: { environment_variant_id: variant_id, delta },
      })
    const first = await commit({ set: { a: pin } })
    expect(first.status, first.text.slice(0, 500)).to.equal(200)
    const refused = await commit({ set: { b: pin } })
    expect([refused.status, refused.body.code]).to.deep.equal([422, 'invalid_request'])
    expect(refused.body.detail).to.match(/at most 10000 keys in all, but there would be 10001/)
    expect((await commit({ set: { b: pin }, remove: ['a'] })).status).to.equal(200)
  })

  it('reads an environment that plain git made larger, and lets it shrink', async () => {
    const { variant_id } = (await environment('large', {})).body.environment
    const clone = await cloneOf(service, 'large', { family: 'environments' })
    writeFileSync(join(clone.folder, 'references.json'), JSON.stringify(members(10_002, () => pin)))
    await clone.commit('Larger')
    expect((await clone.try('push')).terminal).to.match(/references\.json: .*at most 10000 keys/)
    git(service.repository('large', 'environments'), ['fetch', '-q', clone.folder, '+HEAD:refs/heads/large'])
    const asked = { environment_ref: { slug: 'large' } }
    const { body } = await service.post('/environments/revisions/retrieve', asked)
    expect(Object.keys(body.environment_revision.data.references)).to.have.length(10_002)
    const delta = { remove: ['k0'] }
    const change = { environment_revision_commit: { environment_variant_id: variant_id, delta } }
    expect((await service.post('/environments/revisions/commit', change)).status).to.equal(200)
  })

  it('removes ten thousand paths of a delta, and refuses more', async () => {
    const keys = members(20_000, (number) => number)
    const { workflow: made } = (await workflow('wide', { parameters: { keys } })).body
    const commit = (count: number) =>
      service.post('/workflows/revisions/commit', {
        workflow_revision_commit: {
          workflow_variant_id: made.variant_id,
          delta: { remove: Array.from({ length: count }, (_, number) => `parameters.keys.k${number * 2}`) },
        },
      })
    const { status, body } = await commit(10_000)
    expect(status).to.equal(200)
    const left = Object.keys(body.workflow_revision.data.parameters.keys)
    expect(left).to.deep.equal(Object.keys(keys).filter((_, number) => number % 2 === 1))
    const refused = await commit(10_001)
    expect([refused.status, refused.body.code]).to.deep.equal([422, 'invalid_delta'])
  })

  it('refuses long lists in a filter, many flags and many events with one problem', async () => {
    const many = Array.from({ length: 5000 }, () => 1)
    for (const [path, request, place] of [
      ['/workflows/query', { workflow: { slugs: many } }, 'slugs'],
      ['/workflows/revisions/query', { workflow_revision: { authors: many } }, 'authors'],
      ['/workflows/revisions/query', { workflow_revision: { dates: many } }, 'dates'],
      ['/workflows/variants/query', { workflow_refs: many }, 'workflow_refs'],
      ['/environments/revisions/query', { references: many }, 'references'],
      ['/webhooks', { webhook: { url: 'https://example.org', events: many } }, 'events'],
    ] as const) {
      const { status, body } = await service.post(path, request)
      expect([status, body.code], path).to.deep.equal([422, 'invalid_request'])
      expect(body.errors, path).to.have.length(1)
      expect(body.errors[0].loc.at(-1)).to.equal(place)
      expect(body.errors[0].msg).to.match(/must have at most 100/)
    }
    const flags = { workflow: { slug: 'x', flags: members(1001, () => true) } }
    const { status, body } = await service.post('/workflows', flags)
    expect([status, body.code, body.errors.length]).to.deep.equal([422, 'unknown_field', 100])
  })

  it('names a download by at most 200 characters, whatever they are', async () => {
    const data = { testcases: [{ data: { a: 1 } }] }
    const { testset } = (await service.post('/simple/testsets', { testset: { slug: 'named', data } })).body
    for (const path of [
      `/testsets/revisions/${testset.revision_id}/download`,
      `/simple/testsets/${testset.id}/download`,
    ]) {
      const name = (length: number) => ({ file_name: '\u{1f600}'.repeat(length) })
      expect((await service.post(path, name(200))).status).to.equal(200)
      expect((await service.post(path, name(201))).body.code).to.equal('invalid_request')
      expect((await service.get(`${path}?file_name=${'x'.repeat(201)}`)).status).to.equal(422)
    }
  })

  it('refuses an envelope of too many items in all, and leaves lists in lists alone', async () => {
    const refs = Array.from({ length: 9000 }, () => ({ slug: 'a', version: 1 }))
    const body = Object.fromEntries(
      ['workflow_refs', 'workflow_variant_refs', 'workflow_revision_refs', 'application_refs'].map((name) => [
        name,
        refs,
      ]),
    )
    const reply = await service.post('/workflows/query', body)
    expect(reply.status, reply.text.slice(0, 300)).to.equal(413)
    expect(reply.body.detail).to.include('at most 100000')
    const nested = await service.post('/workflows/query', { workflow_refs: [[{ slug: 'a' }]] })
    expect(nested.status, nested.text).to.equal(422)
  })

  it('refuses an object of more than 50,000 members', async () => {
    const wide = `{${Array.from({ length: 50_001 }, (_, member) => `"k${member}":1`).join(',')}}`
    const reply = await service.post(
      '/simple/workflows/',
      `{"workflow":{"slug":"wide","data":{"parameters":${wide}}}}`,
    )
    expect(reply.status, reply.text.slice(0, 300)).to.equal(413)
    expect(reply.body.detail).to.include('more than 50000 members')
  })

  it('refuses a row of more than 100,000 values, however it comes, and reads one that plain git brought', async () => {
    const row = (count: number) => ({ list: Array.from({ length: count - 1 }, () => 0) })
    const create = (slug: string, count: number) =>
      service.post('/simple/testsets', { testset: { slug, data: { testcases: [{ data: row(count - 1) }] } } })
    const upload = (slug: string, text: string, type: string) =>
      service.call('POST', `/simple/testsets/upload?testset_slug=${slug}`, text, { 'content-type': type })
    expect((await create('many-values', 100_000)).status).to.equal(200)
    const taken = await upload('many-in-file', JSON.stringify([row(99_999)]), 'application/json')
    expect(taken.status, taken.text.slice(0, 300)).to.equal(200)
    for (const refused of [
      await create('more-values', 100_001),
      await upload('more-values', JSON.stringify([row(100_001)]), 'application/json'),
      await upload('more-values', `${JSON.stringify(row(100_001))}\n`, 'application/jsonl'),
    ]) {
      expect([refused.status, refused.body.code]).to.deep.equal([413, 'limit_exceeded'])
      expect(refused.body.detail).to.match(/100000 values/)
    }
    const clone = await cloneOf(service, 'many-values', { family: 'testsets' })
    const [file = ''] = (await clone.git('ls-files', 'testcases')).split('\n')
    const data = { ...row(100_001), testcase_dedup_id: 'large' }
    clone.write(file, `${JSON.stringify(data)}\n`)
    await clone.commit('More')
    expect((await clone.try('push')).terminal).to.match(/more than 100000 values/)
    git(service.repository('many-values', 'testsets'), [
      'fetch',
      '-q',
      clone.folder,
      '+HEAD:refs/heads/many-values',
    ])
    const { body } = await service.post('/testsets/revisions/retrieve', {
      testset_ref: { slug: 'many-values' },
    })
    expect(body.testset_revision.data.testcases[0].data.list).to.have.length(100_000)
  })
})
