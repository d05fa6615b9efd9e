import { expect } from 'chai'
import type { JsonObject } from '../../../src/base/json/json.ts'
import { deriveFlags, derivedFlagNames } from '../../../src/registry/workflows/workflow-family.ts'

describe('workflow flags', () => {
  for (const [what, data, expected] of [
    ['no data', undefined, []],
    ['data without uri or url', { parameters: {} }, []],
    ['a built-in handler', { uri: 'svc:builtin:echo:v0' }, ['is_managed', 'has_url']],
    ['chat', { uri: 'svc:builtin:chat:v0' }, ['is_managed', 'is_llm', 'is_chat', 'has_url']],
    ['llm', { uri: 'llm' }, ['is_managed', 'is_llm', 'has_url']],
    ['completion', { uri: 'svc:builtin:completion:v0' }, ['is_managed', 'is_llm', 'has_url']],
    ['match', { uri: 'match' }, ['is_managed', 'is_match', 'has_url']],
    ['agent', { uri: 'agent' }, ['is_managed', 'is_agent', 'has_url']],
    ['a hook', { uri: 'svc:custom:hook:v0' }, ['is_managed', 'is_custom', 'is_hook', 'has_url']],
    ['feedback', { uri: 'custom:feedback' }, ['is_managed', 'is_custom', 'is_feedback', 'has_url']],
    [
      'code',
      { uri: 'svc:custom:code:v0', runtime: 'python', script: 'x' },
      ['is_managed', 'is_custom', 'is_code', 'has_url', 'has_script'],
    ],
    ['an empty script', { script: '' }, []],
    ['a skill', { uri: 'svc:builtin:skill:v0', script: 'x', url: 'https://a.b' }, ['is_managed', 'is_skill']],
    ['a handler of the user', { uri: 'user:custom:fn:latest' }, ['is_custom']],
    ['a url alone', { url: 'https://example.org' }, ['has_url']],
    ['a web address as uri', { uri: 'https://example.org/x' }, []],
    ['a list of messages', takes({ 'x-svc-type-ref': 'messages' }), ['is_chat']],
    ['one message', takes({ 'x-svc-type-ref': 'message' }), ['is_chat']],
    ['another type', takes({ 'x-svc-type-ref': 'model' }), []],
    ['wrong types from a push', { uri: 5, url: [], script: {}, schemas: { inputs: 3 } }, []],
    ['wrong schemas from a push', { schemas: { inputs: { properties: { a: 1 } } } }, []],
  ] as const satisfies readonly (readonly [string, JsonObject | undefined, readonly string[]])[]) {
    it(`of ${what}`, () => {
      const flags = deriveFlags(data)
      expect(Object.keys(flags)).to.deep.equal([...derivedFlagNames])
      expect(derivedFlagNames.filter((name) => flags[name])).to.deep.equal(expected)
    })
  }
})

function takes(property: JsonObject): JsonObject {
  return { schemas: { inputs: { properties: { history: property } } } }
}
