import { handlerTable } from '../../../src/run/handlers/workflows.ts'
import { expect } from 'chai'
import {
  effectiveVersion,
  isManaged,
  isSkill,
  parseHandlerUri,
} from '../../../src/registry/workflows/workflow-data.ts'

describe('handler uri', () => {
  for (const [uri, provider, kind, key, version] of [
    ['completion', 'svc', 'builtin', 'completion', 'latest'],
    ['custom:hook', 'svc', 'custom', 'hook', 'latest'],
    ['user:custom:fn', 'user', 'custom', 'fn', 'latest'],
    ['svc:builtin:chat:v0', 'svc', 'builtin', 'chat', 'v0'],
    ['svc:builtin:chat:', 'svc', 'builtin', 'chat', 'latest'],
  ] as const) {
    it(`reads ${uri}`, () => {
      expect(parseHandlerUri(uri)).to.deep.equal({ provider, kind, key, version })
    })
  }

  for (const uri of [
    '',
    '  ',
    'a:b:c:d:e',
    'https://example.org/x',
    'HTTP://example.org',
    '@{{workflow.slug=x, path=uri}}',
  ]) {
    it(`does not read ${JSON.stringify(uri)}`, () => {
      expect(parseHandlerUri(uri)).to.equal(undefined)
    })
  }

  it('calls the provider svc managed, and no other', () => {
    expect(isManaged(parseHandlerUri('svc:custom:hook:v0'))).to.equal(true)
    expect(isManaged(parseHandlerUri('chat'))).to.equal(true)
    expect(isManaged(parseHandlerUri('user:builtin:chat:v0'))).to.equal(false)
    expect(isManaged(undefined)).to.equal(false)
  })

  it('knows a skill only among the managed ones', () => {
    expect(isSkill(parseHandlerUri('svc:builtin:skill:v0'))).to.equal(true)
    expect(isSkill(parseHandlerUri('user:custom:skill:v0'))).to.equal(false)
  })

  it('takes the highest version for latest and leaves a named one alone', () => {
    expect(['chat', 'svc:builtin:chat:v0', 'svc:builtin:chat:v9'].map(versionOf)).to.deep.equal([
      'v0',
      'v0',
      'v9',
    ])
  })

  it('finds nothing wrong with the known keys, nor with what is not ours', () => {
    for (const uri of [
      'svc:builtin:auto_json_diff:v0',
      'svc:custom:mock:v7',
      'user:x:y:z',
      'https://a.b/c',
    ]) {
      expect(handlerTable.uriProblem(parseHandlerUri(uri)), uri).to.equal(undefined)
    }
  })

  it('names the uri and the keys there are when one of ours is unknown', () => {
    expect(handlerTable.uriProblem(parseHandlerUri('svc:custom:chat:v0')))
      .to.contain('"svc:custom:chat"')
      .and.contain('code, hook, feedback, mock')
    expect(handlerTable.uriProblem(parseHandlerUri('svc:other:chat:v0'))).to.contain('builtin and custom')
    expect(handlerTable.uriProblem(parseHandlerUri('nonsense'))).to.contain('"svc:builtin:nonsense"')
    expect(handlerTable.uriProblem(parseHandlerUri('svc:builtin:constructor:v0'))).to.be.a('string')
  })
})

function versionOf(uri: string): string | undefined {
  const parsed = parseHandlerUri(uri)
  return parsed && effectiveVersion(parsed)
}
