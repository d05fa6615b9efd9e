import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { spawnSync } from 'node:child_process'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/**
 * Runs every test and writes how long each file took to test/times.json, the longest first, for .mocharc.cjs. To be run where the order has
 * become wrong, on an idle machine: npm run test:times.
 */
const noted = join(tmpdir(), `test-times-${process.pid}.jsonl`)
const { status } = spawnSync(process.execPath, ['node_modules/mocha/bin/mocha.js'], {
  stdio: 'inherit',
  env: { ...process.env, TESTS: process.env['TESTS'] ?? 'all', TEST_TIMES: noted },
})
const lines = readFileSync(noted, 'utf8').trim().split('\n')
rmSync(noted)
const times = lines.map((line) => JSON.parse(line) as { file: string; ms: number })
const file = 'test/times.json'
const known = existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Record<string, number>) : {}
// With TESTS one half runs, and what is known of the other stays.
const all = { ...known, ...Object.fromEntries(times.map(({ file, ms }) => [file, ms])) }
const long = Object.entries(all)
  .filter(([, ms]) => ms >= 1000)
  .sort(([, a], [, b]) => b - a)
writeFileSync(file, `${JSON.stringify(Object.fromEntries(long), undefined, 2)}\n`)
const sum = times.reduce((all, { ms }) => all + ms, 0)
process.stdout.write(`${times.length} files, ${Math.round(sum / 1000)} s of one worker in all\n`)
process.exitCode = status ?? 1
