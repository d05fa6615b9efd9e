import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { type Block, documentBlocks } from './document-blocks.ts'

/**
 * Runs a Markdown document as its reader would who pastes every `sh` block, in order, into one shell in a fresh checkout, and answers
 * what did not go as it says: one sentence each, with the line. Rules:
 * - Blocks of other languages (`console`, `yaml`, `ini` …) are not run.
 * - A `text` block right behind an `sh` block shows what that prints: it has to be found in the output; `…` stands for anything.
 * - `npm ci` does nothing, as node_modules and dist are there, and `npm start` runs in the background (session.sh); as it holds a
 *   reader's terminal, it has to be the last line of its block. It is npm's with NPM_ITSELF in `env`.
 * - 127.0.0.1:3000 is a free port of this machine.
 * - `&&` is refused in a block, as nobody notices where what stands before it fails; so are placeholders (`"…"`, `ARTIFACT_ID`).
 */
export async function runDocument(
  markdown: string,
  { env = {} }: { readonly env?: Readonly<Record<string, string>> } = {},
): Promise<readonly string[]> {
  const folder = mkdtempSync(join(tmpdir(), 'document-'))
  const [home, out] = [join(folder, 'home'), join(folder, 'out')]
  for (const path of [home, out]) mkdirSync(path)
  writeFileSync(join(home, '.gitconfig'), '[user]\n\tname = A Reader\n\temail = reader@example.org\n')
  const port = await freePort()
  const blocks = documentBlocks(markdown.replaceAll('127.0.0.1:3000', `127.0.0.1:${port}`))
  writeFileSync(join(folder, 'document.sh'), scriptOf(blocks))
  const checkout = checkOut(folder)
  const shell = spawn('bash', ['-c', '. "$0"; . "$1"', join(HERE, 'session.sh'), '../document.sh'], {
    cwd: checkout,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      // The command `branchpoint` is the checkout's.
      PATH: `${checkout}:${dirname(process.execPath)}:${process.env['PATH']}`,
      HOME: home,
      LANG: 'C.UTF-8',
      GIT_CONFIG_NOSYSTEM: '1',
      GIT_TERMINAL_PROMPT: '0',
      npm_config_update_notifier: 'false',
      PORT: String(port),
      URL: `http://127.0.0.1:${port}`,
      OUT: out,
      ...env,
    },
  })
  let said = ''
  for (const stream of [shell.stdout, shell.stderr]) stream.on('data', (piece) => (said += String(piece)))
  try {
    await once(shell, 'close')
    const problems = blocks.flatMap((block, at) => problemsOf(block, blocks[at + 1], out))
    if (existsSync(join(out, 'ended'))) return problems
    const last = blocks.findLast(({ line }) => existsSync(join(out, `${line}.out`)))
    const why = said + (last ? readFileSync(join(out, `${last.line}.out`), 'utf8') : '')
    return [...problems, `The shell ended in the block of line ${last?.line}: ${why}`]
  } finally {
    shell.kill('SIGKILL')
    killServer(join(out, 'server.pid'))
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
  }
}

const ROOT = process.cwd()
const HERE = join(ROOT, 'test/documents')

/** The working tree as a clone would have it, with what is installed and built: nothing is installed or compiled again. */
function checkOut(folder: string): string {
  const checkout = join(folder, 'branchpoint')
  for (const made of [checkout, join(checkout, 'store'), join(checkout, 'dist')]) mkdirSync(made)
  // What no reader writes to is not copied.
  for (const name of readdirSync(ROOT))
    if (!['.git', 'dist', 'store'].includes(name)) symlinkSync(join(ROOT, name), join(checkout, name))
  copyFileSync(join(ROOT, 'store/README.md'), join(checkout, 'store/README.md'))
  for (const name of ['src', 'scripts', 'test'])
    symlinkSync(join(ROOT, 'dist', name), join(checkout, 'dist', name))
  writeFileSync(join(checkout, 'dist', '.build-info'), '{}') // newer than every source, so that scripts/build.mjs has nothing to do
  return checkout
}

/** A script that has each line where the document has it, so that bash's line numbers are the document's. */
function scriptOf(blocks: readonly Block[]): string {
  const script: string[] = []
  for (const { language, line, lines } of blocks) {
    if (language !== 'sh') continue
    script[line - 1] = `__begin ${line}`
    for (const [at, text] of lines.entries()) script[line + at] = text
    script[line + lines.length] = '__end'
  }
  return `${Array.from(script, (text) => text ?? '').join('\n')}\n: >"$OUT/ended"\n`
}

function problemsOf({ language, line, lines }: Block, next: Block | undefined, out: string): string[] {
  if (language !== 'sh') return []
  const read = (name: string): string =>
    existsSync(join(out, name)) ? readFileSync(join(out, name), 'utf8') : ''
  const output = read(`${line}.out`)
  const problems = lines.flatMap((text, at) => {
    const what = mistakeIn(text, at === lines.length - 1)
    return what === undefined ? [] : [`line ${line + 1 + at} ${what}: ${text}`]
  })
  for (const failure of read('failures').split('\n').filter(Boolean)) {
    const [at = 0, code] = failure.split(' ').map(Number)
    if (at > line && at <= line + lines.length)
      problems.push(`line ${at} fails (${code}): ${lines[at - line - 1]}`)
  }
  if (next?.language === 'text' && !pattern(next.lines).test(output))
    problems.push(`line ${next.line} shows what the block of line ${line} does not print`)
  return problems.length === 0 ? [] : [...problems, `the block of line ${line} printed:\n${output}`]
}

/** What is wrong with a line as such. */
function mistakeIn(text: string, isLast: boolean): string | undefined {
  if (text.includes('&&')) return 'has &&'
  if (/"…"|\b[A-Z]+_ID\b/.test(text)) return 'has a placeholder'
  return /\bnpm start\b/.test(text) && !isLast ? 'holds the terminal, and others follow' : undefined
}

function pattern(lines: readonly string[]): RegExp {
  const literal = (text: string): string => text.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&')
  return new RegExp(lines.join('\n').trim().split('…').map(literal).join('[^]*?'))
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo // what a server that listens on a port has
  server.close()
  await once(server, 'close')
  return port
}

/** One that its shell has left behind. */
function killServer(pidFile: string): void {
  if (!existsSync(pidFile)) return
  try {
    process.kill(-Number(readFileSync(pidFile, 'utf8')), 'SIGKILL')
  } catch {
    // it has ended
  }
}
