import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect } from 'chai'
import { ADMIN_KEY, type RunningService, startService } from '../../support/servers/service.ts'

const PROGRAM = fileURLToPath(new URL('../../../src/cli/main.js', import.meta.url))

describe('branchpoint blame', () => {
  let service: RunningService
  before(async () => {
    service = await startService()
    const { body } = await service.post('/simple/applications/', {
      application: { slug: 'bot', data: prompt('one\ntwo') },
    })
    await service.post('/applications/revisions/commit', {
      application_revision_commit: {
        application_variant_id: body.application.variant_id,
        data: prompt('one\n2'),
      },
    })
  })
  after(() => service.stop())

  const run = async (...args: readonly string[]): Promise<string> => {
    const env = { PATH: process.env['PATH'], BRANCHPOINT_URL: service.url, BRANCHPOINT_KEY: ADMIN_KEY }
    const { stdout } = await promisify(execFile)(process.execPath, [PROGRAM, 'blame', ...args], { env })
    return stdout
  }
  const refused = (...args: readonly string[]): Promise<string> =>
    run(...args).then(
      (output) => `it said ${output}`,
      ({ stderr }: { stderr: string }) => stderr,
    )

  it('prints each line with its commit, author and day', async () => {
    expect(await run('bot')).to.match(
      /^[0-9a-f]{8} {2}.+ {2}\d{4}-\d\d-\d\d {2}1\) {2}one\n[0-9a-f]{8} {2}.+ {2}\d{4}-\d\d-\d\d {2}2\) {2}2\n$/,
    )
    const [first, second] = (await run('bot')).split('\n').map((line) => line.slice(0, 8))
    expect(first).not.to.equal(second)
  })

  it('of an older version, of a variant, and as JSON', async () => {
    const lines = (await run('bot', '--variant', 'bot', '--version', '1', '--jsonl')).trimEnd().split('\n')
    expect(lines.map((line) => JSON.parse(line).text)).to.deep.equal(['one', 'two'])
    const answer = JSON.parse(await run('bot:bot@1', '--json'))
    expect(answer).to.have.property('count', 2)
    expect(answer.lines.map((line: { text: string }) => line.text)).to.deep.equal(['one', 'two'])
  })

  it('refuses a place that is no text, an unknown workflow, and too many words', async () => {
    expect(await refused('bot', '/nowhere')).to.include('/parameters/prompt/messages/0/content')
    expect(await refused('none')).to.include('none')
    expect(await refused('bot', 'a', 'b')).to.include('"b" is one word too many.')
  })
})

function prompt(content: string): object {
  return { parameters: { prompt: { messages: [{ role: 'user', content }] } } }
}
