import { spawn } from 'node:child_process'
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { transformWithOxc } from 'vite'

/** How a file of tests went. */
export interface TestRun {
  /** The title of the first test that failed, or what happened in its place; undefined where none did. */
  readonly failed: string | undefined
  /** It was ended, since it took all of its time. */
  readonly isCut: boolean
  readonly milliseconds: number
}

/** Starts the program: in the tree they load the modules, and not the few files that the bundler makes, in which a mutant would not be. */
const PROGRAMS = ['src/main.ts', 'src/cli/main.ts']

/** A copy of the working tree and its build, in which a file can be another. */
export class MutatedTree {
  readonly root: string

  private constructor(root: string) {
    this.root = root
  }

  static async make(): Promise<MutatedTree> {
    const from = resolve('.')
    const root = mkdtempSync(join(tmpdir(), 'mutants-'))
    const left = new Set(['node_modules', '.git'].map((name) => join(from, name)))
    cpSync(from, root, { recursive: true, preserveTimestamps: true, filter: (path) => !left.has(path) })
    symlinkSync(join(from, 'node_modules'), join(root, 'node_modules'))
    const tree = new MutatedTree(root)
    process.once('exit', () => tree.remove())
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1))
    for (const path of PROGRAMS) await tree.#compile(path, readFileSync(path, 'utf8'))
    return tree
  }

  /** Does the work while the file is another, and answers with its result. */
  async whileMutated<T>(path: string, mutated: string, work: () => Promise<T>): Promise<T> {
    const restored = readFileSync(this.#built(path))
    await this.#compile(path, mutated)
    try {
      return await work()
    } finally {
      writeFileSync(this.#built(path), restored)
    }
  }

  has(test: string): boolean {
    return existsSync(join(this.root, test))
  }

  /** Runs a built file of tests to its first failure. */
  async run(
    test: string,
    { most, env = {} }: { readonly most: number; readonly env?: Readonly<Record<string, string>> },
  ): Promise<TestRun> {
    const began = performance.now()
    const child = spawn(process.execPath, ['node_modules/mocha/bin/mocha.js', ...BARE, test], {
      cwd: this.root,
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'ignore'],
      // whatever it started ends with it
      detached: true,
    })
    const end = (): void => {
      // its processes have ended by themselves, perhaps
      try {
        process.kill(-(child.pid ?? 0), 'SIGKILL')
      } catch {}
    }
    process.once('exit', end)
    let isCut = false
    const timer = setTimeout(() => {
      isCut = true
      end()
    }, most)
    let failed: string | undefined
    createInterface({ input: child.stdout }).on('line', (line) => {
      failed ??= FAILURE.exec(line)?.[1]
    })
    const code = await new Promise<number | null>((settle) => child.once('close', settle))
    clearTimeout(timer)
    end()
    process.off('exit', end)
    return {
      failed: isCut || code === 0 ? undefined : failed === undefined ? 'is not loaded' : titleOf(failed),
      isCut,
      milliseconds: performance.now() - began,
    }
  }

  remove(): void {
    rmSync(this.root, { recursive: true, force: true })
  }

  async #compile(path: string, text: string): Promise<void> {
    const { code } = await transformWithOxc(text, path, {
      target: 'es2023',
      sourcemap: false,
      typescript: { rewriteImportExtensions: 'rewrite', onlyRemoveTypeImports: true },
    })
    writeFileSync(this.#built(path), code)
  }

  #built(path: string): string {
    return join(this.root, 'dist', path.replace(/\.ts$/, '.js'))
  }
}

/** As in .mocharc.cjs, whose files are not wanted. */
const BARE = [
  '--no-config',
  ...['memory-disk', 'test-settings'].flatMap((name) => ['--require', `./dist/test/${name}.js`]),
  ...['--timeout', '60000', '--bail', '--exit', '--reporter', 'json-stream'],
]

/** What mocha's reporter writes of a test that failed. */
const FAILURE = /^\["fail",(\{.*\})\]$/

function titleOf(failure: string): string {
  return (JSON.parse(failure) as { fullTitle: string }).fullTitle // mocha wrote it
}
