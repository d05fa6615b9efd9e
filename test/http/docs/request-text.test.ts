import { spawnSync } from 'node:child_process'
import { expect } from 'chai'
import {
  exampleRequest,
  fileArgument,
  keyHeader,
  neededKey,
  withVariables,
} from '../../../src/http/docs/request-text.ts'

describe('what the viewer shows of a request', () => {
  const operation = {
    security: [{ ApiKey: ['write'] }],
    requestBody: { content: { 'application/json': { example: { slug: 'bot' } } } },
  }

  it('is the example of the body, with a key only where one is needed', () => {
    expect(exampleRequest('post', 'http://host/x', operation)).to.deep.equal({
      url: 'http://host/x',
      method: 'POST',
      headers: { Authorization: 'ApiKey …', 'Content-Type': 'application/json' },
      body: '{"slug":"bot"}',
    })
    expect(exampleRequest('get', 'http://host/health', { security: [] }).headers).to.deep.equal({})
  })

  it('brings a file where one is wanted', () => {
    const upload = { requestBody: { content: { 'multipart/form-data': {}, 'application/json': {} } } }
    expect(fileArgument(upload)).to.equal(" \\\n  -F 'file=@rows.csv'")
    expect(exampleRequest('post', 'http://host/x', upload)).to.not.have.property('body')
    expect(fileArgument({ requestBody: { content: { 'application/x-git-bundle': {} } } })).to.contain(
      '--data-binary',
    )
    expect(fileArgument(operation) + fileArgument({})).to.equal('')
  })

  it('names the scopes of which a key needs one', () => {
    expect(neededKey(operation)).to.equal('Needs a key with the scope write.')
    expect(neededKey({ security: [{ ApiKey: ['read'] }, { ApiKey: ['invoke'] }] })).to.contain(
      'read or invoke',
    )
    expect(neededKey({ security: [] })).to.equal('Needs no key.')
  })

  it('has the server and the key as variables of the shell, and never the key itself', () => {
    const command = withVariables(
      `curl -X 'GET' \\\n  'http://host:1/x?a=b c' \\\n  -H 'accept: */*' \\\n  -H 'Authorization: ApiKey svc_secret'`,
      'http://host:1',
    )
    expect(command).to.not.contain('svc_secret')
    const env = { BRANCHPOINT_URL: 'http://other', BRANCHPOINT_KEY: 'k y', PATH: process.env['PATH'] }
    const { stdout } = spawnSync('sh', ['-c', `curl() { printf '%s\\n' "$@"; }\n${command}`], { env })
    expect(stdout.toString().trim().split('\n')).to.deep.equal([
      ...['-X', 'GET', 'http://other/x?a=b c'],
      ...['-H', 'accept: */*', '-H', 'Authorization: ApiKey k y'],
    ])
  })

  it('takes a key as people paste it', () => {
    expect(keyHeader(' svc_1 ')).to.equal('ApiKey svc_1')
    expect(keyHeader('ApiKey svc_1')).to.equal('ApiKey svc_1')
  })
})
