import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

const MOCHA = fileURLToPath(new URL('../../../node_modules/mocha/bin/mocha.js', import.meta.url))
/** As in .mocharc.cjs, whose files are not wanted. */
const BARE = [
  '--no-config',
  ...['memory-disk', 'test-settings'].flatMap((name) => ['--require', `./dist/test/${name}.js`]),
]

/** Runs these files of tests, one after the other, with these variables. Answers mocha's exit code. */
export async function runTests(
  files: readonly string[],
  env: Readonly<Record<string, string>>,
  { timeout = 180_000 } = {},
): Promise<number> {
  const args = ['--enable-source-maps', MOCHA, ...BARE, '--timeout', `${timeout}`, ...files]
  const child = spawn(process.execPath, args, { stdio: 'inherit', env: { ...process.env, ...env } })
  const [code] = (await once(child, 'exit')) as [number | null]
  return code ?? 2
}
