import { workflows } from '../conformance/tested-family.ts'
import { arrangeRefused } from './refused-fixture.ts'
import type { Loc } from './refused-payloads.ts'
import { refusedPayloads } from './refused-payloads.ts'
import { refusedRequests } from './refused-requests.ts'

describe('refusals: payloads of workflows', () => {
  const store = refusedRequests((service) => arrangeRefused(service, workflows))
  const { refuses } = store
  const { refusesData, refusesUnknown, refusesDelta } = refusedPayloads(workflows, store)

  // interface 7.1
  it('an unknown key of data is named', () =>
    refusesUnknown({ temprature: 1 }, [['temprature']], '"temprature"'))

  it('every unknown key is named at once, __proto__ too', async () => {
    const body = `{"workflow_revision": {"workflow_variant_id": "${store.made.botVariant}", "data": {"__proto__": {}, "a": 1}}}`
    const base = ['body', 'workflow_revision', 'data']
    await refuses(
      { path: '/workflows/revisions/commit', body },
      {
        status: 422,
        code: 'unknown_field',
        says: ['"__proto__"', '"a"'],
        at: [
          [...base, '__proto__'],
          [...base, 'a'],
        ],
      },
    )
  })

  const wrongTypes: readonly (readonly [unknown, Loc, string])[] = [
    [[], [], 'data must be an object'],
    ['text', [], 'data must be an object'],
    [{ parameters: [] }, ['parameters'], 'parameters must be an object'],
    [{ parameters: 'x' }, ['parameters'], 'parameters must be an object'],
    [{ uri: 7 }, ['uri'], 'uri must be a string'],
    [{ script: {} }, ['script'], 'script must be a string'],
    [{ runtime: 'cobol' }, ['runtime'], 'cobol'],
    [{ url: 'not a url' }, ['url'], 'not a url'],
    [{ url: 'ftp://example.org/x' }, ['url'], 'ftp://example.org/x'],
    [{ headers: { a: 1 } }, ['headers', 'a'], 'a'],
    [{ schemas: [] }, ['schemas'], 'schemas'],
  ]
  for (const [data, at, says] of wrongTypes) {
    // interface 7.1
    it(`${JSON.stringify(data)} is refused at ${['data', ...at].join('.')}`, () =>
      refusesData(data, [at], says))
  }

  for (const uri of ['svc:builtin:nonsense', 'svc:custom:nonsense']) {
    // interface 7.2
    it(`an unknown handler, ${uri}, is refused`, () => refusesData({ uri: `${uri}:v0` }, [['uri']], uri))
  }

  const drafts = [
    'https://json-schema.org/draft/2020-12/schema',
    'https://json-schema.org/draft/2019-09/schema',
    'http://json-schema.org/draft-07/schema#',
    'http://json-schema.org/draft-06/schema#',
    'http://json-schema.org/draft-04/schema#',
  ]
  for (const $schema of drafts) {
    // interface 7.6
    it(`an invalid JSON Schema is refused by ${$schema}`, () =>
      refusesData(
        { schemas: { inputs: { $schema, type: 'strnig' } } },
        [['schemas', 'inputs', 'type']],
        'schemas.inputs',
      ))
  }

  it('an invalid schema without $schema, or with one that nobody knows, is refused', async () => {
    await refusesData(
      { schemas: { outputs: { properties: [] } } },
      [['schemas', 'outputs', 'properties']],
      'outputs',
    )
    await refusesData(
      { schemas: { parameters: { $schema: 'https://example.org/mine' } } },
      [['schemas', 'parameters', '$schema']],
      'https://example.org/mine',
    )
  })

  const deltas: readonly (readonly [unknown, Loc, string?])[] = [
    [{}, []],
    [[], []],
    [{ unknown: 1 }, ['unknown'], 'unknown_field'],
    [{ set: {}, remov: [] }, ['remov'], 'unknown_field'],
    [{ set: [] }, ['set']],
    [{ remove: 'parameters.n' }, ['remove']],
    [{ remove: ['parameters.n', 7] }, ['remove', 1]],
    [{ operations: [] }, ['operations']],
  ]
  for (const [delta, at, code = 'invalid_delta'] of deltas) {
    it(`the delta ${JSON.stringify(delta)} is refused`, () => refusesDelta(delta, code, at))
  }

  it('a delta whose result is no payload is refused at what it sets', () =>
    refusesDelta({ set: { parametres: {} } }, 'unknown_field', ['set', 'parametres']))
})
