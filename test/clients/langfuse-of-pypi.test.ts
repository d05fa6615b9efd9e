import { execFile, spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { promisify } from 'node:util'
import { expect } from 'chai'
import { ADMIN_KEY, type RunningService, startService } from '../support/servers/service.ts'
import { documentBlocks } from '../documents/document-blocks.ts'
import { COMPILED, makePrompts } from './prompts-for-clients.ts'

/** Where `.ci/run` installs Python's packages. */
const PACKAGES = resolve('.python')
const run = promisify(execFile)

describe('the SDK of Langfuse for Python', () => {
  let service: RunningService
  let env: NodeJS.ProcessEnv
  let got: any // what the program printed

  before(async function () {
    const missing = whatIsMissing()
    if (missing !== undefined) {
      process.stderr.write(`SKIPPED: ${this.test?.parent?.title}: ${missing}\n`)
      this.skip()
    }
    service = await startService()
    env = {
      PATH: process.env['PATH'],
      PYTHONPATH: PACKAGES,
      PYTHONDONTWRITEBYTECODE: '1',
      BRANCHPOINT_URL: service.url,
      BRANCHPOINT_KEY: ADMIN_KEY,
      WRITER_KEY: await makePrompts(service),
    }
    got = JSON.parse((await run('python3', ['test/clients/ask-langfuse.py'], { env })).stdout)
  })
  after(() => service?.stop())

  it('gets a chat, with settings, labels and tags, and fills in its variables and placeholders', () => {
    expect(got.chat).to.deep.include({
      kind: 'ChatPromptClient',
      version: 1,
      config: { model: 'gpt-4o-mini', temperature: 0.2 },
      labels: ['production'],
      tags: ['team:support'],
      is_fallback: false,
    })
    expect(got.compiled).to.deep.equal(COMPILED)
  })

  it('gets a text', () => {
    expect(got.text).to.deep.include({
      kind: 'TextPromptClient',
      prompt: 'Hello, {{name}}!',
      labels: ['latest'],
    })
    expect(got.filled).to.equal('Hello, Ada!')
  })

  it('gets prompts by label and by version', () => {
    expect(got).to.include({ by_label: 2, by_version: 1, latest: 2 })
  })

  it('lists prompts', () => {
    expect(got.total).to.equal(2)
    expect(got.listed).to.have.length(1)
    expect(got.listed[0]).to.deep.include({
      name: 'support-bot',
      type: 'chat',
      versions: [1, 2],
      labels: ['staging', 'production', 'latest'],
      tags: ['team:support'],
    })
    expect(got.tagged).to.deep.equal(['support-bot'])
    expect(got.labelled).to.deep.equal(['support-bot'])
  })

  it('takes a 404 for what is not there, and then its fallback', () => {
    expect(got.missing).to.deep.include({ kind: 'NotFoundError', status: 404 })
    expect(got.missing.body).to.include({ code: 'artifact_not_found', message: got.missing.body.detail })
    expect(got.unlabelled.body.message).to.match(/labels are staging, production, latest/)
    for (const name of ['long', 'percent', 'folder'])
      expect(got[name], name).to.deep.include({ kind: 'NotFoundError', status: 404 })
    expect(got.fallback).to.deep.include({ prompt: 'Instead', is_fallback: true })
  })

  it('takes a 401 for a key that nobody has, a 403 for one without the scope, a 400 for a label and a version', () => {
    expect(got.no_key).to.deep.include({ kind: 'UnauthorizedError', status: 401 })
    expect(got.no_right).to.deep.include({ kind: 'AccessDeniedError', status: 403 })
    expect(got.both).to.deep.include({ status: 400 })
  })

  it('runs as the guide has it', async () => {
    const blocks = documentBlocks(readFileSync('docs/guide/other-clients.md', 'utf8'))
    const program = blocks.find(({ language }) => language === 'python')?.lines.join('\n') ?? ''
    const { stdout } = await run('python3', ['-c', program], { env })
    expect(stdout).to.match(
      /^1 \['production'\] gpt-4o-mini\n\[\{'role': 'system', 'content': 'You are kind.'/,
    )
  })
})

function whatIsMissing(): string | undefined {
  if (spawnSync('python3', ['--version']).status !== 0) return 'there is no python3'
  return existsSync(resolve(PACKAGES, 'langfuse'))
    ? undefined
    : 'there is no package langfuse; `python3 -m pip install --target .python langfuse` installs it'
}
