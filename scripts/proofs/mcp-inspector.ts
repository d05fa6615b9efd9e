import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { ADMIN_KEY, startService } from '../../test/support/servers/service.ts'
import { progress } from '../bench/progress.ts'

/**
 * Asks a server by the inspector of the Model Context Protocol, from its command line, and by the client of the SDK's first line (1.x), each
 * brought by npm into a temporary folder. Prints what was sent and what came, and ends with 1 if anything is not as it should be.
 */

const PACKAGES = ['@modelcontextprotocol/inspector@2', '@modelcontextprotocol/sdk@1']
const PROGRAM = fileURLToPath(new URL('../../src/cli/main.js', import.meta.url))
const CALLS = 1000
const LONGEST_PRINTED = 1200

const run = promisify(execFile)
const folder = mkdtempSync(join(tmpdir(), 'inspector-'))
const service = await startService()
try {
  progress(`npm install ${PACKAGES.join(' ')}`)
  writeFileSync(join(folder, 'package.json'), '{"private": true, "type": "module"}')
  await run('npm', ['install', '--ignore-scripts', '--no-audit', '--no-fund', ...PACKAGES], { cwd: folder })
  progress('')
  const messages = [
    { role: 'system', content: 'You answer tickets. Be kind.' },
    { role: 'user', content: '{{question}}' },
  ]
  const parameters = {
    prompt: { messages, llm_config: { model: 'mock/examples' }, template_format: 'curly' },
  }
  const data = { uri: 'svc:builtin:completion:v0', parameters }
  await service.post('/simple/applications/', { application: { slug: 'support-bot', data } })
  await inspectOverHttp()
  await inspectOverStdio()
  await askWithFirstSdk()
} finally {
  await service.stop()
  rmSync(folder, { recursive: true, force: true })
}

async function inspectOverHttp(): Promise<void> {
  const at = (tools: string, ...args: string[]): readonly string[] => [
    ...[`${service.url}/mcp${tools}`, '--header', `Authorization: Bearer ${ADMIN_KEY}`],
    ...args,
  ]
  const call = (tool: string, ...args: string[]): string[] =>
    ['--method', 'tools/call', '--tool-name', tool].concat(args.length > 0 ? ['--tool-arg', ...args] : [])
  // --strict ends with 6 if the schema of a tool is not one that every model takes.
  await inspect(at('?tools=deploy', '--method', 'tools/list', '--strict'), '"prompts_rollback"')
  await inspect(
    at(
      '?tools=author',
      ...call('prompts_commit', 'name=support-bot', 'message=Warmer', 'set={"parameters.mood":"warm"}'),
    ),
    '"version": 2',
  )
  await inspect(
    at('', ...call('prompts_get', 'name=support-bot', 'version=1', 'fields=["version","subject"]')),
    '"version": 1',
  )
  await inspect(at('', ...call('prompts_get', 'name=suport-bot')), 'Did you mean', 5)
  await inspect(at('', ...call('prompts_deploy', 'name=support-bot')), "'prompts_deploy' not found", 5)
  await inspect(
    at('', '--method', 'prompts/get', '--prompt-name', 'support-bot@1', '--prompt-args', 'question=Why?'),
    'Why?',
  )
  await inspect(at('', '--method', 'resources/templates/list'), 'branchpoint://{family}/{slug}@{environment}')
  await inspect(
    at('', '--method', 'resources/read', '--uri', 'branchpoint://applications/support-bot@1'),
    'Be kind.',
  )
  for (const era of ['legacy', 'modern'])
    await inspect(
      at('', '--protocol-era', era, ...call('prompts_get', 'name=support-bot', 'fields=["version"]')),
      '"version": 2',
    )
  const load = ['--load', '--load-requests', `${CALLS}`, '--load-concurrency', `${CALLS}`, '--format', 'json']
  await inspect(at('', ...call('prompts_get', 'name=support-bot'), ...load), `"ok":${CALLS}`)
}

async function inspectOverStdio(): Promise<void> {
  const set = [`BRANCHPOINT_URL=${service.url}`, `BRANCHPOINT_KEY=${ADMIN_KEY}`].flatMap((it) => ['-e', it])
  const asked = [
    '--method',
    'tools/call',
    '--tool-name',
    'prompts_log',
    '--tool-arg',
    'name=support-bot',
    'limit=1',
  ]
  await inspect([...set, process.execPath, PROGRAM, 'mcp', ...asked], '"version": 2')
}

/** Calls the inspector; what it prints has to contain `expected`, and it has to end with this code. */
async function inspect(args: readonly string[], expected: string, code = 0): Promise<void> {
  const shown = args.map((arg) => (/^[\w@./:=?-]+$/.test(arg) ? arg : `'${arg}'`)).join(' ')
  const { said } = await finished(join(folder, 'node_modules/.bin/mcp-inspector'), ['--cli', ...args])
  report(`mcp-inspector --cli ${shown}`, said, code === 0 ? expected : `(ended with ${code})`)
  if (!said.includes(expected) || (code === 0 && said.includes('(ended with'))) process.exitCode = 1
}

async function askWithFirstSdk(): Promise<void> {
  writeFileSync(
    join(folder, 'first.js'),
    `import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
const client = new Client({ name: 'first', version: '1' })
const headers = { authorization: 'Bearer ${ADMIN_KEY}' }
await client.connect(new StreamableHTTPClientTransport(new URL('${service.url}/mcp'), { requestInit: { headers } }))
const { tools } = await client.listTools()
const { content } = await client.callTool({ name: 'prompts_get', arguments: { name: 'support-bot', fields: ['version'] } })
console.log(tools.length, 'tools;', content[0].text)
await client.close()
`,
  )
  const { said } = await finished(process.execPath, [join(folder, 'first.js')])
  report('the client of the SDK 1.x', said, '8 tools; {"version":2}')
}

async function finished(program: string, args: readonly string[]): Promise<{ readonly said: string }> {
  try {
    const { stdout, stderr } = await run(program, args, {
      maxBuffer: 2 ** 26,
      env: { ...process.env, HOME: folder },
    })
    return { said: stdout + stderr }
  } catch (error) {
    const { stdout = '', stderr = '', code } = error as { stdout?: string; stderr?: string; code?: unknown } // of execFile
    return { said: `${stdout}${stderr}(ended with ${String(code)})` }
  }
}

function report(asked: string, said: string, expected: string): void {
  const holds = said.includes(expected)
  const shown = said.length > LONGEST_PRINTED ? `${said.slice(0, LONGEST_PRINTED)}…` : said
  process.stdout.write(`$ ${asked}\n${shown.trimEnd()}\n${holds ? '' : `MISSING: ${expected}\n`}\n`)
  if (!holds) process.exitCode = 1
}
