import { spawnSync } from 'node:child_process'
import { statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect } from 'chai'
import { runCommandLine } from '../../src/cli/run-command-line.ts'
import { VERBS } from '../../src/cli/command/verbs.ts'

const COMMAND_LINE = new URL('../../src/cli/run-command-line.js', import.meta.url).href
const MAIN = fileURLToPath(new URL('../../src/cli/main.js', import.meta.url))

/** Runs the program in a folder that is not the package's. */
function branchpoint(...args: readonly string[]) {
  return spawnSync(process.execPath, [MAIN, ...args], { cwd: tmpdir(), encoding: 'utf8' })
}

/** What it prints in this process: one of its own for each command would take ten times as long. */
async function saidBy(...args: readonly string[]): Promise<string> {
  const { write } = process.stdout
  let said = ''
  process.stdout.write = (piece: string | Uint8Array) => {
    said += String(piece)
    return true
  }
  try {
    await runCommandLine(args)
  } finally {
    process.stdout.write = write
  }
  return said
}

describe('branchpoint', () => {
  it('lists its commands, and every one explains itself with all of its options', async () => {
    const whole = branchpoint('--help')
    expect(whole).to.include({ status: 0, stderr: '' })
    expect(branchpoint()).to.include({ status: 0, stdout: whole.stdout })
    for (const [verb, { words, options }] of Object.entries(VERBS)) {
      expect(whole.stdout).to.match(new RegExp(`^  ${verb} `, 'm'))
      const said = await saidBy(verb, '--help')
      expect(said, verb).to.match(/^Examples?:\n {2}\S/m)
      for (const word of words) expect(said, verb).to.contain(word)
      for (const option of Object.keys(options)) expect(said, verb).to.contain(`--${option}`)
    }
  })

  it('names a command, a sub-command and an option that is not there, and the one that may be meant', () => {
    for (const [args, sentence] of [
      [['kyes'], 'There is no command "kyes". Did you mean "keys"?\n'],
      [['frobnicate'], 'There is no command "frobnicate".\n'],
      [['testsets', 'exprot'], 'There is no command "exprot". Did you mean "export"?\n'],
      [['verify', '--repiar'], "Unknown option '--repiar'. Did you mean --repair?\n"],
      [['serve', '--prot', '1'], "Unknown option '--prot'. Did you mean --port?\n"],
    ] as const) {
      const { status, stdout, stderr } = branchpoint(...args)
      expect([stdout, stderr.slice(0, sentence.length)], args.join(' ')).to.deep.equal(['', sentence])
      expect(status, args.join(' ')).to.equal(2)
    }
  })

  it('loads no server for a command that needs none', () => {
    const program = `import { runCommandLine } from ${JSON.stringify(COMMAND_LINE)}; await runCommandLine(['keys', 'list'])`
    const loaded = loadedBy('--input-type=module', '--eval', program)
    expect(loaded).to.include('src/cli/commands/keys.js')
    const needless =
      /^src\/(?:cli\/commands\/(?!keys\.js)|http\/(?!logger)|server\/start|run\/(?:handlers|sandbox))/
    expect(loaded.filter((path) => needless.test(path))).to.deep.equal([])
  })

  it('is few files, in place of a module each', () => {
    const loaded = loadedBy(MAIN, 'keys', 'list')
    expect(loaded[0]).to.equal('src/cli/main.js')
    expect(loaded.slice(1).filter((path) => !path.startsWith('server/'))).to.deep.equal([])
    expect(loaded).to.have.length.within(2, 40)
    // What asks a server loads little: the time that it takes to start is node's.
    const little = loadedBy(MAIN, 'get', 'bot', '--url', 'http://127.0.0.1:1', '--key', 'none')
    const bytes = little.reduce((sum, path) => sum + statSync(join(dirname(MAIN), '../..', path)).size, 0)
    expect([little[0], bytes < 100_000], `${bytes} bytes`).to.deep.equal(['src/cli/main.js', true])
  })
})

/** The files of the build that node loads with these arguments, in order. */
function loadedBy(...args: readonly string[]): string[] {
  const { stderr } = spawnSync(process.execPath, ['--import', TELLING, ...args], {
    cwd: tmpdir(),
    encoding: 'utf8',
  })
  return [...stderr.matchAll(/^loads \S+?\/dist\/(\S+)$/gm)].map(([, path = '']) => path)
}

/** Says of each module on standard error that it is loaded. */
const HOOKS = `
import { writeSync } from 'node:fs'
export function load(url, context, next) {
  writeSync(2, 'loads ' + url + '\\n')
  return next(url, context)
}`
const TELLING = `data:text/javascript,${encodeURIComponent(
  `import { register } from 'node:module'; register(${JSON.stringify(`data:text/javascript,${encodeURIComponent(HOOKS)}`)})`,
)}`
