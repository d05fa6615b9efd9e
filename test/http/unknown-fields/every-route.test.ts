import { expect } from 'chai'
import type { Operation } from '../../support/clients/api-document.ts'
import { readApiDocument } from '../../support/clients/api-document.ts'
import type { Reply, RunningService } from '../../support/servers/service.ts'
import { startService } from '../../support/servers/service.ts'
import { filesOf } from '../refusals/store-snapshot.ts'
import { uploadFormOf } from '../upload-form-of.ts'
import { bodyLevels, bodyWith } from './body-levels.ts'

/** A value for each path parameter that is no UUID. */
const PARAMETERS: Readonly<Record<string, string>> = {
  key: 'echo',
  version: 'v0',
  span_id: '00f067aa0ba902b7',
}
const SOME_ID = '01a1fbb1-f5c2-76ee-83de-4bacd1c878f6'

describe('unknown fields: every route', () => {
  let service: RunningService
  let operations: readonly Operation[]
  let schemas: Parameters<typeof bodyLevels>[1]
  before(async () => {
    service = await startService()
    const document = await readApiDocument(service.url)
    schemas = document.schemas
    // What needs no key is for probes and browsers, which add parameters of their own.
    operations = document.operations.filter(({ scopes, path }) => scopes.length > 0 && path !== '/metrics')
    expect(operations).to.have.length.above(150)
  })
  after(() => service.stop())

  const send = ({ method, path }: Operation, body?: unknown, query = ''): Promise<Reply> =>
    service.call(
      method,
      path.replaceAll(/\{(\w+)\}/g, (_, name: string) => PARAMETERS[name] ?? SOME_ID) + query,
      body,
    )

  // interface 2.10
  it('refuses a parameter that it does not know, and stores nothing', async () => {
    const before = filesOf(service.storeDir)
    for (const operation of operations) {
      const body = operation.isUpload ? uploadFormOf('a\n1\n') : undefined
      const reply = await send(operation, body, '?nobody_reads=1')
      expectUnknown(reply, operation, ['query', 'nobody_reads'])
    }
    expect(filesOf(service.storeDir)).to.deep.equal(before)
  })

  // interface 2.10, 2.32
  it('refuses a field that it does not know at every level of a body, and stores nothing', async () => {
    const before = filesOf(service.storeDir)
    let levels = 0
    for (const operation of operations.filter(({ method }) => method === 'POST' || method === 'PUT')) {
      if (operation.isUpload) {
        const reply = await send(operation, uploadFormOf('a\n1\n', { nobody_reads: '1' }))
        expectUnknown(reply, operation, ['body', 'nobody_reads'])
        continue
      }
      const { schema } = operation.body ?? { schema: { properties: {} } }
      for (const { path } of [{ path: [] }, ...bodyLevels(schema, schemas)]) {
        levels++
        const reply = await send(operation, bodyWith(path, { nobody_reads: 1 }))
        expectUnknown(reply, operation, ['body', ...path, 'nobody_reads'])
      }
    }
    expect(levels).to.be.above(300)
    expect(filesOf(service.storeDir)).to.deep.equal(before)
  })

  it('refuses no field that the document names', async () => {
    for (const operation of operations) {
      if (!operation.body) continue
      for (const { path, fields } of bodyLevels(operation.body.schema, schemas)) {
        const reply = await send(operation, bodyWith(path, Object.fromEntries(fields.map((it) => [it, 7]))))
        expect(unknownIn(reply), `${operation.name} ${path.join('.')}: ${reply.text}`).to.deep.equal([])
      }
    }
  })

  it('refuses no example, and no parameter that the document names', async () => {
    for (const operation of operations.filter(({ isEndless }) => !isEndless)) {
      const parameters = operation.parameters.filter((it) => it.in === 'query')
      const query = new URLSearchParams(parameters.map(({ name }): [string, string] => [name, 'x']))
      const body = operation.isUpload ? uploadFormOf('a\n1\n') : operation.body?.example
      for (const [asked, sent] of [
        [`?${query}`, operation.isUpload ? body : undefined],
        ['', body],
      ] as const) {
        const reply = await send(operation, sent, asked)
        expect(reply.body?.code, `${operation.name}${asked}: ${reply.text}`).to.not.equal('unknown_field')
      }
    }
  })
})

function expectUnknown(reply: Reply, { name }: Operation, loc: readonly (string | number)[]): void {
  const what = `${name} ${loc.join('.')}: ${reply.text}`
  expect([reply.status, reply.body?.code], what).to.deep.equal([422, 'unknown_field'])
  expect(unknownIn(reply), what).to.deep.equal([loc])
  expect(reply.body.detail, what).to.include(loc.join('.'))
}

/** The places that an answer says nobody reads. */
function unknownIn({ body }: Reply): readonly (readonly (string | number)[])[] {
  const errors: readonly { readonly loc: readonly string[]; readonly type: string }[] = body?.errors ?? []
  return errors.filter(({ type }) => type === 'extra_forbidden').map(({ loc }) => loc)
}
