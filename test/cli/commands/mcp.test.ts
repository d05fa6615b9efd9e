import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { expect } from 'chai'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { agentOf, makePrompt } from '../../http/mcp/agent.ts'
import { ADMIN_KEY, type RunningService, startService } from '../../support/servers/service.ts'
import { runHere } from '../command-here.ts'

const PROGRAM = fileURLToPath(new URL('../../../src/cli/main.js', import.meta.url))

describe('branchpoint mcp', () => {
  let service: RunningService
  before(async () => {
    service = await startService()
    await makePrompt(service, 'support-bot', 'Be kind.')
  })
  after(() => service.stop())

  const transport = (args: readonly string[] = [], env: object = {}) =>
    new StdioClientTransport({
      command: process.execPath,
      args: [PROGRAM, 'mcp', ...args],
      env: { BRANCHPOINT_URL: service.url, BRANCHPOINT_KEY: ADMIN_KEY, ...env },
      stderr: 'pipe',
    })

  // interface 17.8
  for (const mode of ['legacy', 'auto'] as const)
    it(`serves a server's tools, and says when its lists change (${mode})`, async () => {
      const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } })
      const changes = new Set<string>()
      const changed = new Promise<void>((resolve) => {
        for (const kind of ['prompts', 'resources'] as const)
          client.setNotificationHandler(`notifications/${kind}/list_changed`, () => {
            changes.add(kind)
            if (changes.size === 2) resolve()
          })
      })
      await client.connect(transport(['--tools', 'author']))
      if (mode === 'auto') await client.listen({ promptsListChanged: true, resourcesListChanged: true })
      expect(client.getServerCapabilities()).to.deep.include({ prompts: { listChanged: true } })
      const agent = agentOf(client)
      expect((await client.listPrompts()).prompts[0]?.name).to.equal('support-bot')
      const set = { 'parameters.mode': mode }
      const committed = await agent.call('prompts_commit', { name: 'support-bot', message: 'New', set })
      expect(committed.isError, committed.text).to.equal(false)
      // Events before the first connection are not told, so that what follows it is repeated until one is.
      const again = setInterval(
        () => void makePrompt(service, `more-${mode}-${Date.now()}`, 'Be brief.').catch(() => undefined),
        500,
      )
      await changed
      clearInterval(again)
      const error = await agent.call('prompts_deploy').catch((it) => it)
      expect(error.message).to.contain('connect with --tools deploy to use it')
      const calls = Array.from({ length: 200 }, () => agent.call('prompts_get', { name: 'support-bot' }))
      const failed = (await Promise.all(calls)).filter(({ isError }) => isError)
      expect(failed).to.deep.equal([])
      await client.close()
    })

  it('says in a result that no server answers, or that the key is none', async () => {
    for (const [env, said] of [
      [{ BRANCHPOINT_URL: 'http://127.0.0.1:9' }, 'No server answers at http://127.0.0.1:9'],
      [{ BRANCHPOINT_KEY: 'svc_none' }, 'This API key is unknown or revoked'],
    ] as const) {
      const client = new Client({ name: 'test', version: '1' })
      await client.connect(transport([], env))
      const { isError, text } = await agentOf(client).call('prompts_search')
      expect(isError).to.equal(true)
      expect(text).to.contain(said)
      await client.close()
    }
  })

  it('ends when its input does, also after nonsense, and refuses a wrong use', async () => {
    const env = { BRANCHPOINT_URL: service.url, BRANCHPOINT_KEY: ADMIN_KEY }
    const child = spawn(process.execPath, [PROGRAM, 'mcp'], { env })
    const said = text(child.stdout)
    child.stdin.end('nonsense\n{"jsonrpc": "2.0"}\n\n')
    const [code] = await once(child, 'exit')
    expect([code, await said]).to.deep.equal([0, ''])
    const cwd = process.cwd()
    const wrong = await runHere(['mcp', '--tools', 'all'], { env, cwd })
    expect(wrong.code).to.equal(2)
    expect(wrong.stderr).to.contain('--tools: there is no group of tools "all"')
    const keyless = await runHere(['mcp'], { env: {}, cwd })
    expect([keyless.code, keyless.stderr.split('\n')[0]]).to.deep.equal([
      2,
      '--key is missing (or BRANCHPOINT_KEY). To store a key for http://127.0.0.1:3000: ./branchpoint login http://127.0.0.1:3000',
    ])
  })
})
