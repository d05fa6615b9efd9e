import { readFileSync, rmSync, writeFileSync } from 'node:fs'
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
const long = times.filter(({ ms }) => ms >= 1000).sort((a, b) => b.ms - a.ms)
writeFileSync(
  'test/times.json',
  `${JSON.stringify(Object.fromEntries(long.map(({ file, ms }) => [file, ms])), undefined, 2)}\n`,
)
const sum = times.reduce((all, { ms }) => all + ms, 0)
process.stdout.write(`${times.length} files, ${Math.round(sum / 1000)} s of one worker in all\n`)
process.exitCode = status ?? 1
