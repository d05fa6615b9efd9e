import { expect } from 'chai'
import { request } from 'node:http'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { ADMIN_KEY, type RunningService, startService } from '../support/servers/service.ts'
import { keyWithScopes } from './invocation/key-with-scopes.ts'

interface RawReply {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly bytes: Buffer
}

describe('http: what a client prefers', () => {
  let service: RunningService
  const long = 'Answer with the name of the capital. '.repeat(200)
  before(async () => {
    service = await startService()
    const data = { parameters: { prompt: { messages: [{ role: 'system', content: long }] } } }
    await service.post('/simple/applications', { application: { slug: 'bot', data } })
  })
  after(() => service.stop())

  /** Without what fetch adds and undoes by itself. */
  const raw = (
    method: string,
    path: string,
    headers: Record<string, string>,
    body?: object,
  ): Promise<RawReply> =>
    new Promise((resolve, reject) => {
      const asked = request(service.url + path, {
        method,
        headers: { authorization: `ApiKey ${ADMIN_KEY}`, 'content-type': 'application/json', ...headers },
      })
      asked.on('error', reject).on('response', (response) => {
        const chunks: Buffer[] = []
        response.on('data', (chunk: Buffer) => chunks.push(chunk))
        response.on('end', () =>
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers,
            bytes: Buffer.concat(chunks),
          }),
        )
      })
      asked.end(body && JSON.stringify(body))
    })
  const retrieve = { application_ref: { slug: 'bot' } }
  const commit = (more: object = {}) => ({
    application_revision_commit: {
      application_variant_id: variantId,
      data: { parameters: { n: 1 } },
      ...more,
    },
  })
  let variantId: string
  before(async () => {
    variantId = (await service.post('/applications/revisions/retrieve', retrieve)).body.application_revision
      .variant_id
  })

  it('compression: Brotli or gzip, whichever it takes; none unless it asks, and none of what is short', async () => {
    const path = '/applications/revisions/retrieve'
    const plain = await raw('POST', path, {}, retrieve)
    expect(plain.headers).to.not.have.property('content-encoding')
    expect(plain.headers).to.include({ vary: 'Accept-Encoding' })
    for (const [accepted, encoding, undo] of [
      ['gzip', 'gzip', gunzipSync],
      ['gzip, deflate, br', 'br', brotliDecompressSync],
      ['br;q=0, gzip;q=0.5', 'gzip', gunzipSync],
    ] as const) {
      for (let round = 0; round < 2; round++) {
        const reply = await raw('POST', path, { 'accept-encoding': accepted }, retrieve)
        expect(reply.headers).to.include({ 'content-encoding': encoding, vary: 'Accept-Encoding' })
        expect(reply.headers['content-length']).to.equal(String(reply.bytes.length))
        expect(undo(reply.bytes).equals(plain.bytes)).to.equal(true)
        expect(reply.bytes.length).to.be.below(plain.bytes.length / 2)
        expect(reply.headers.etag).to.equal(plain.headers.etag)
        const again = await raw('POST', path, { 'if-none-match': String(reply.headers.etag) }, retrieve)
        expect(again.status).to.equal(304)
      }
    }
    for (const accepted of ['deflate', 'identity', 'gzip;q=0, br;q=0'])
      expect(
        (await raw('POST', path, { 'accept-encoding': accepted }, retrieve)).headers,
      ).to.not.have.property('content-encoding')
    const short = await raw('GET', '/health', { 'accept-encoding': 'gzip' })
    expect(short.headers).to.not.have.property('content-encoding')
  })

  it('compression: of answers that are streams and of downloads, not of what comes as work goes on', async () => {
    const rows = Array.from({ length: 3000 }, (_, n) => ({ data: { n, text: long.slice(0, 200) } }))
    const { id, revision_id: revisionId } = (
      await service.post('/simple/testsets', { testset: { slug: 'rows', data: { testcases: rows } } })
    ).body.testset
    const headers = { 'accept-encoding': 'gzip' }
    const body = { testset_ref: { id } }
    const whole = await raw('POST', '/testsets/revisions/retrieve', {}, body)
    const packed = await raw('POST', '/testsets/revisions/retrieve', headers, body)
    expect(packed.headers).to.include({ 'content-encoding': 'gzip' })
    expect(gunzipSync(packed.bytes).equals(whole.bytes)).to.equal(true)
    const path = `/testsets/revisions/${revisionId}/download?file_type=csv`
    const [file, packedFile] = [await raw('POST', path, {}), await raw('POST', path, headers)]
    expect(file.status).to.equal(200)
    expect(gunzipSync(packedFile.bytes).equals(file.bytes)).to.equal(true)
  })

  it('entity tags of /openapi.json and of what /docs loads, compressed', async () => {
    for (const path of ['/openapi.json', '/docs/start-viewer.js']) {
      const whole = await raw('GET', path, {})
      const packed = await raw('GET', path, { 'accept-encoding': 'br' })
      expect(packed.bytes.length).to.be.below(whole.bytes.length / 2)
      expect(brotliDecompressSync(packed.bytes).equals(whole.bytes)).to.equal(true)
      const again = await raw('GET', path, { 'if-none-match': String(packed.headers.etag) })
      expect([again.status, again.bytes.length]).to.deep.equal([304, 0])
    }
  })

  // interface 2.27
  it('return=minimal: ids, slugs and versions alone, of a create, a commit and a deploy', async () => {
    const headers = { prefer: 'respond-async, return=minimal; foo' }
    const made = await service.post(
      '/simple/applications',
      { application: { slug: 'small', data: { parameters: { n: 1 } } } },
      headers,
    )
    expect(Object.keys(made.body.application)).to.have.members(['id', 'slug', 'variant_id', 'revision_id'])
    const committed = await service.post(
      '/applications/revisions/commit',
      commit({ deploy: ['staging'] }),
      headers,
    )
    expect(committed.headers.get('preference-applied')).to.equal('return=minimal')
    const { application_revision: revision, deployments, count } = committed.body
    expect(count).to.equal(1)
    expect(Object.keys(revision)).to.have.members(['id', 'slug', 'version', 'artifact_id', 'variant_id'])
    expect(deployments).to.deep.equal([
      { environment: 'staging', revision_id: revision.id, version: revision.version, changed: true },
    ])
    expect(committed.text.length).to.be.below(500)
    const read = await service.post('/applications/revisions/retrieve', retrieve, headers)
    expect(read.body.application_revision.data).to.be.an('object')
    const asEver = await service.post('/applications/revisions/commit', commit(), {
      prefer: 'return=representation',
    })
    expect(asEver.body.application_revision.data).to.be.an('object')
  })

  // interface 9.6, 3.6
  it('deployments: where, of what, and whether it was new; the same for a repeated key', async () => {
    const { id, version } = (await service.post('/applications/revisions/commit', commit())).body
      .application_revision
    const deploy = (headers = {}) =>
      service.post(
        '/applications/revisions/deploy',
        { application_revision_ref: { id }, environment_ref: { slug: 'production' } },
        headers,
      )
    const told = (changed: boolean) => [{ environment: 'production', revision_id: id, version, changed }]
    expect((await deploy({ 'idempotency-key': 'first' })).body.deployments).to.deep.equal(told(true))
    expect((await deploy()).body.deployments).to.deep.equal(told(false))
    expect((await deploy({ 'idempotency-key': 'first' })).body.deployments).to.deep.equal(told(true))
    expect((await deploy({ 'idempotency-key': 'second' })).body.deployments).to.deep.equal(told(false))
    expect((await deploy({ 'idempotency-key': 'second' })).body.deployments).to.deep.equal(told(false))
    const deployer = await keyWithScopes(service, ['deploy'])
    expect((await deploy(deployer)).body.deployments).to.deep.equal(told(false))
  })
})
