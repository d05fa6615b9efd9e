import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isDeepStrictEqual, parseArgs } from 'node:util'
import { UsageError } from '../../src/cli/command/usage-error.ts'
import { startChatStub } from '../../test/support/servers/chat-stub.ts'
import { KEY, startBranchpoint } from '../../test/support/servers/child-server.ts'

const FILE = 'test/http/clients/litellm.json'

/** What LiteLLM was seen to do; a quick test asks the same again. */
interface Kept {
  readonly litellm: string
  /** Requests that make the prompts: method, path, body. */
  readonly prompts: readonly (readonly [path: string, body: object])[]
  readonly cases: readonly (Asked & Partial<Seen>)[]
}

interface Asked {
  readonly prompt_id: string
  readonly prompt_variables?: object
  readonly query?: object
}

interface Seen {
  /** What LiteLLM asks … */
  readonly request: string
  readonly authorization: string
  /** … what it is answered … */
  readonly status: number
  readonly answer: unknown
  /** … and what it sends to the model then, or how it fails. */
  readonly sent?: unknown
  readonly failure?: string
}

/**
 * `npm run proof -- clients-of-others`: LiteLLM, installed from PyPI into a temporary folder, runs completions with prompts of a server. Ends with
 * 1 if what it asks, gets and sends to the model is not what is kept; `--keep` keeps it, `--litellm FOLDER` uses an installed one.
 */
const { values: options } = parseArgs({
  options: { keep: { type: 'boolean', default: false }, litellm: { type: 'string' } },
})
const kept = JSON.parse(readFileSync(FILE, 'utf8')) as Kept
const folder = mkdtempSync(join(tmpdir(), 'branchpoint-clients-'))
const server = await startBranchpoint(join(folder, 'store'))
const model = await startChatStub()
try {
  const packages = options.litellm ?? install(join(folder, 'python'))
  for (const [path, body] of kept.prompts) await post(path, body)
  const seen = await watch(packages)
  const cases = kept.cases.map(({ prompt_id, prompt_variables, query }, at) => ({
    prompt_id,
    ...(prompt_variables && { prompt_variables }),
    ...(query && { query }),
    ...seen[at],
  }))
  const different = cases.filter((it, at) => !isDeepStrictEqual(it, kept.cases[at]))
  if (options.keep) writeFileSync(FILE, `${JSON.stringify({ ...kept, cases }, undefined, 2)}\n`)
  else
    for (const it of different)
      process.stdout.write(`not as it is kept: ${JSON.stringify(it, undefined, 2)}\n`)
  process.stdout.write(
    `LiteLLM ${kept.litellm}: ${cases.length} completions, ${different.length} not as ${FILE} has them${options.keep ? ' before; it has them now' : ''}\n`,
  )
  if (different.length > 0 && !options.keep) process.exitCode = 1
} finally {
  await server.stop()
  await model.stop()
  rmSync(folder, { recursive: true, force: true })
}

function install(target: string): string {
  const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '--target', target]
  const { status, stderr } = spawnSync('python3', [...pip, `litellm==${kept.litellm}`], { encoding: 'utf8' })
  if (status === 0 || existsSync(join(target, 'litellm'))) return target
  throw new UsageError(`pip could not install litellm ${kept.litellm}:`, stderr)
}

async function post(path: string, body: object): Promise<void> {
  const headers = { authorization: `ApiKey ${KEY}`, 'content-type': 'application/json' }
  const answer = await fetch(server.url + path, { method: 'POST', headers, body: JSON.stringify(body) })
  if (!answer.ok) throw new Error(`${path} answered ${answer.status}: ${await answer.text()}`)
}

/** Runs all cases, and answers what was seen of each. */
async function watch(packages: string): Promise<readonly Seen[]> {
  const asked: Omit<Seen, 'sent' | 'failure'>[] = []
  const between = createServer((request, response) => {
    const { authorization = '' } = request.headers
    void fetch(server.url + request.url, { headers: { authorization } }).then(async (answer) => {
      const text = await answer.text()
      asked.push({
        request: `${request.method} ${request.url}`,
        authorization: authorization.replace(KEY, 'KEY'),
        status: answer.status,
        answer: JSON.parse(text),
      })
      response.writeHead(answer.status, { 'content-type': 'application/json' }).end(text)
    })
  }).listen(0, '127.0.0.1')
  await once(between, 'listening')
  const { port } = between.address() as AddressInfo // what a server that listens on a port has
  const url = `http://127.0.0.1:${port}`
  try {
    const results = await runPython(packages, url)
    const sent = [...model.received]
    return results.map(({ failure }, at) => {
      const it = asked[at]
      if (!it) throw new Error(`LiteLLM asked ${asked.length} times in ${results.length} completions`)
      return failure === undefined
        ? { ...it, sent: sent.shift()?.body }
        : { ...it, failure: failure.replaceAll(url, 'SERVER') }
    })
  } finally {
    between.close()
    between.closeAllConnections()
  }
}

async function runPython(packages: string, url: string): Promise<readonly { readonly failure?: string }[]> {
  const python = spawn('python3', ['scripts/proofs/ask-litellm.py'], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: {
      PATH: process.env['PATH'],
      PYTHONPATH: packages,
      LITELLM_LOCAL_MODEL_COST_MAP: 'True',
      PROMPTS_URL: url,
      PROMPTS_KEY: KEY,
      MODEL_URL: model.url,
    },
  })
  let out = ''
  python.stdout.on('data', (piece) => (out += String(piece)))
  python.stdin.end(JSON.stringify(kept.cases))
  const [code] = (await once(python, 'close')) as [number | null]
  if (code !== 0) throw new Error(`python3 ended with ${code}`)
  return out
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as { readonly failure?: string })
}
