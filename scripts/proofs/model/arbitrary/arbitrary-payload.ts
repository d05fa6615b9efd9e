import fc from 'fast-check'
import { maybe, RARELY } from './arbitrary-header.ts'
import type { ModelDelta } from '../state/model-data.ts'
import { definedOf } from '../state/model-state.ts'
import type { PayloadText } from '../step.ts'

const PARAMETERS = [
  '{}',
  '{"prompt":{"messages":[{"role":"system","content":"Hi {{name}}"}],"template_format":"curly"}}',
  '{"10":1,"2":12345678901234567890,"__proto__":{"x":0.1000000000000000055}}',
  '{"a":{"b":{"c":1,"d":null}},"list":[1,{"z":null},[]]}',
  '{"big":1e400,"text":"line\\nend \\"quoted\\" ☃"}',
]
const URIS = ['user:custom:fn:latest', 'svc:custom:hook:v0', 'svc:custom:code:v0']
/** Deltas that meet members of these payloads, and miss them. */
export const DELTAS: readonly ModelDelta[] = [
  { set: { parameters: { n: 5 } } },
  { set: { parameters: { a: { b: { e: [2] } }, list: [9] } } },
  { remove: ['parameters.a.b', 'nothing.here'] },
  { set: { uri: null, parameters: { prompt: null } } },
  { set: { uri: 'svc:custom:hook:v0' }, remove: ['parameters.n', 'url'] },
  { set: { parameters: null } },
]

/** A payload whose text must come back exact (interface 2.9). */
export const payload: fc.Arbitrary<PayloadText> = fc
  .record({
    parameters: maybe(
      fc.oneof(
        fc.constantFrom(...PARAMETERS),
        fc.nat(99).map((n) => `{"n":${n}}`),
      ),
      90,
    ),
    uri: maybe(fc.constantFrom(...URIS)),
    url: maybe(fc.constant('https://hooks.example/run'), RARELY),
    script: maybe(fc.constant({ runtime: 'python', script: 'def f():\n  return 1\n' })),
    chat: fc.boolean(),
  })
  .map(({ parameters, uri, url, script, chat }) => {
    const inputs = { type: 'object', properties: { m: { 'x-svc-type-ref': 'messages' } } }
    const schemas = { ...(chat ? { inputs } : {}), outputs: { type: 'string' } }
    const members = [
      ...Object.entries(definedOf({ uri, url, schemas, ...script })).map(
        ([key, value]) => `"${key}":${JSON.stringify(value)}`,
      ),
      ...(parameters === undefined ? [] : [`"parameters":${parameters}`]),
    ]
    return { text: `{${members.join(',')}}`, parameters }
  })
