import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect } from 'chai'
import { type CountingHook, startCountingHook } from '../../support/servers/counting-hook.ts'
import { EvaluationClient } from '../../support/clients/evaluation-client.ts'
import { ADMIN_KEY, type RunningService, startService } from '../../support/servers/service.ts'
import type { EvaluationAnswer } from '../../../src/cli/commands/evaluation-answer.ts'
import { resultTable } from '../../../src/cli/commands/result-table.ts'
import { runHere } from '../command-here.ts'
import { withoutProgress } from '../without-progress.ts'

const PROGRAM = fileURLToPath(new URL('../../../src/cli/main.js', import.meta.url))
const run = promisify(execFile)

describe('branchpoint evaluate', () => {
  let service: RunningService
  let client: EvaluationClient
  let hook: CountingHook
  let folder: string
  let clone: string
  let revisions: string[]
  const children: ChildProcess[] = []

  before(async () => {
    service = await startService({ env: { HOOK_ALLOW_PRIVATE: 'true' } })
    folder = mkdtempSync(join(tmpdir(), 'evaluate-'))
    clone = join(folder, 'bot')
    client = new EvaluationClient(service)
    await client.testset('capitals', [
      { country: 'Norway', correct_answer: 'Oslo' },
      { country: 'Norge', correct_answer: 'oslo' },
    ])
    await client.testset(
      'many',
      Array.from({ length: 30 }, (_, n) => ({ n, correct_answer: 'Oslo' })),
    )
    await client.testset('none', [])
    const exact = (isStrict: boolean) => ({
      uri: 'svc:builtin:auto_exact_match:v0',
      parameters: { case_sensitive: isStrict },
    })
    await client.workflow('exact', exact(true), { is_evaluator: true })
    await client.workflow(
      'close',
      { uri: 'svc:builtin:auto_levenshtein_distance:v0', parameters: { threshold: 0.7 } },
      { is_evaluator: true },
    )
    await client.workflow('broken', saying('error', { message: 'no' }), { is_evaluator: true })
    await client.workflow('length', saying('static', { output: 4 }), { is_evaluator: true })
    await client.workflow('picky', {
      ...saying('static', { output: 'Oslo' }),
      schemas: { inputs: { type: 'object', properties: { country: { const: 'Norway' } } } },
    })
    hook = await startCountingHook()
    await client.workflow('slow', { uri: 'svc:custom:hook:v0', url: hook.url })
    revisions = [await client.workflow('bot', saying('static', { output: 'Oslo' }))]
    // The fifth of eight broke it.
    for (let version = 2; version <= 8; version++) {
      const output = version < 5 ? 'Oslo' : `Bergen ${version}`
      revisions.push(await client.commit('bot', { ...saying('static', { output }), runtime: undefined }))
    }
    const url = service.url.replace('//', `//me:${ADMIN_KEY}@`)
    await run('git', ['clone', '-q', `${url}/git/workflows/bot.git`, clone])
  })
  afterEach(() => {
    for (const child of children.splice(0)) child.kill('SIGKILL')
  })
  after(async () => {
    await service.stop()
    await hook.close()
    rmSync(folder, { recursive: true, force: true })
  })

  const env = () => ({ ...process.env, BRANCHPOINT_URL: service.url, BRANCHPOINT_KEY: ADMIN_KEY })

  /** Runs the command as a user would, in a folder. */
  async function evaluate(args: readonly string[], cwd = folder) {
    const said = await runHere(['evaluate', ...args], { cwd, env: env() })
    return { ...said, stderr: withoutProgress(said.stderr) }
  }
  const of = (application: string, testset = 'capitals', ...evaluators: string[]): string[] => [
    '--testset',
    testset,
    '--application',
    application,
    ...evaluators.flatMap((name) => ['--evaluator', name]),
  ]

  it('prints a table of what each evaluator found, and exits 0', async () => {
    const { code, stdout, stderr } = await evaluate(of('bot@1', 'capitals', 'exact', 'close'))
    expect([code, stderr]).to.deep.equal([0, ''])
    expect(stdout).to.match(
      /^bot-1 with capitals-1: 2 of 2 rows in \d+\.\d s, the application failed on 0\n\n/,
    )
    expect(stdout.split('\n').slice(2, 6)).to.deep.equal([
      '| evaluator |           passed | failed | errors | not run |   mean score |',
      '|:----------|-----------------:|-------:|-------:|--------:|-------------:|',
      '| exact-1   |  1 of 2 (50.0 %) |      1 |      0 |       0 | 0.500 over 2 |',
      '| close-1   | 2 of 2 (100.0 %) |      0 |      0 |       0 | 0.875 over 2 |',
    ])
    const asRecord = await evaluate([...of('bot@1', 'capitals', 'exact'), '--json'])
    expect(JSON.parse(asRecord.stdout)).to.deep.include({ rows: 2, state: 'finished' })
  })

  it('says what the models cost, where all prices are known', async () => {
    const said = await evaluate([...of('bot@1', 'capitals', 'exact'), '--json'])
    const answer = JSON.parse(said.stdout) as EvaluationAnswer
    expect(answer.summary.usage, 'no model was called').to.have.all.keys('duration_ms')
    const amounts = (prompt: number, completion: number) => ({
      prompt,
      completion,
      total: prompt + completion,
    })
    const usage = { duration_ms: 5, tokens: amounts(1000, 200), costs: amounts(0.00015, 0.00012) }
    const priced = { ...answer, summary: { ...answer.summary, usage } }
    expect(resultTable(priced)).to.contain('failed on 0, at a cost of $0.00027 (1,200 tokens)\n')
    const { costs, ...unpriced } = usage
    expect(resultTable({ ...priced, summary: { ...priced.summary, usage: unpriced } })).to.contain(
      'failed on 0\n',
    )
  })

  it('says of how many rows what became of each, and the mean counts those that failed', async () => {
    const { code, stdout } = await evaluate([
      ...of('picky', 'capitals', 'exact', 'broken', 'length'),
      '--threshold',
      '0.6',
      '--metric',
      'mean_score',
    ])
    expect(stdout).to.match(
      /^picky-1 with capitals-1: 2 of 2 rows in \d+\.\d s, the application failed on 1\n\n/,
    )
    expect(stdout.split('\n').slice(4, 7)).to.deep.equal([
      '| exact-1   | 1 of 2 (50.0 %) |      0 |      0 |       1 | 0.500 over 2 |',
      '| broken-1  |  0 of 2 (0.0 %) |      0 |      1 |       1 |            - |',
      '| length-1  |  0 of 2 (0.0 %) |      0 |      0 |       1 | 2.000 over 2 |',
    ])
    expect(code).to.equal(1)
  })

  for (const [what, threshold, metric, code] of [
    ['met', '0.5', [], 0],
    ['missed by one of the evaluators', '0.6', [], 1],
    ['missed by the mean score', '0.9', ['--metric', 'mean_score'], 1],
  ] as const) {
    it(`exits ${code} where the threshold is ${what}`, async () => {
      const args = [...of('bot@1', 'capitals', 'exact', 'close'), '--threshold', threshold, ...metric]
      const answer = await evaluate(args)
      expect(answer.code, answer.stderr).to.equal(code)
      if (code === 1) expect(answer.stderr).to.match(/exact: \w+ 0\.500 is below 0\.\d\n/)
    })
  }

  it('takes a slug, slug@version, the id of a revision, and a commit of a clone', async () => {
    const names = await Promise.all([
      evaluate(of('bot')),
      evaluate(of('bot@2')),
      evaluate(of(revisions[2] ?? '')),
      evaluate([...of('bot'), '--commit', 'HEAD'], clone),
      evaluate([...of('bot'), '--commit', 'HEAD~3'], clone),
    ])
    expect(names.map(({ stdout }) => /^bot-\d/.exec(stdout)?.[0])).to.deep.equal([
      'bot-8',
      'bot-2',
      'bot-3',
      'bot-8',
      'bot-5',
    ])
  })

  it('git bisect run finds the revision that broke the prompt', async () => {
    const git = (...args: string[]) => run('git', ['-C', clone, ...args], { env: env() })
    await git('bisect', 'start', 'HEAD', 'HEAD~7')
    const program = [process.execPath, PROGRAM, 'evaluate', ...of('bot', 'many', 'exact')]
    const { stdout } = await git('bisect', 'run', ...program, '--commit', 'HEAD', '--threshold', '0.9')
    const { stdout: fifth } = await git('rev-parse', 'origin/bot~3')
    expect(stdout).to.include(`${fifth.trim()} is the first bad commit`)
    await git('bisect', 'reset')
  })

  it('a signal interrupts it, and it says how to go on, which goes on', async () => {
    hook.delay = 1000
    const child = spawn(process.execPath, [PROGRAM, 'evaluate', ...of('slow', 'many', 'exact')], {
      cwd: folder,
      env: env(),
    })
    children.push(child)
    let [stdout, stderr] = ['', '']
    child.stdout.on('data', (piece) => (stdout += String(piece)))
    child.stderr.on('data', (piece) => (stderr += String(piece)))
    let id: string | undefined
    while (id === undefined) {
      const { body } = await service.post('/evaluations/query', { evaluation: { state: 'running' } })
      id = body.evaluations.find((it: any) => it.application.artifact_slug === 'slow')?.id
    }
    child.kill('SIGTERM')
    const [code] = await once(child, 'close')
    hook.delay = 0
    expect(code).to.equal(128)
    expect(stdout).to.match(/^slow-1 with many-1: \d+ of 30 rows, the application failed on 0\n/)
    expect(stderr).to.include(`Stopped. Go on with: ./branchpoint evaluate --resume ${id}\n`)
    expect((await service.get(`/evaluations/${id}`)).body.evaluation.state).to.equal('interrupted')
    const resumed = await evaluate(['--resume', id, '--threshold', '0.5'])
    expect([resumed.code, resumed.stdout.split(' in ')[0]]).to.deep.equal([
      1,
      'slow-1 with many-1: 30 of 30 rows',
    ])
  })

  for (const [what, args, sentence] of [
    [
      'a server that is not there',
      [...of('bot'), '--url', 'http://127.0.0.1:9', '--key', 'any'],
      /cannot be reached: /,
    ],
    ['a key that nobody has', [...of('bot'), '--key', 'nonsense'], /API key/],
    ['an application that is not there', of('nobody'), /no workflow with the slug "nobody"/],
    ['a version that is not there', of('bot@99'), /99/],
    ['no testset', ['--application', 'bot'], /--testset is missing/],
    ['a word that is no option', [...of('bot'), '--fast'], /--fast/],
    ['a threshold past 1', [...of('bot', 'capitals', 'exact'), '--threshold', '90'], /--threshold: "90"/],
    [
      'a threshold that no evaluator has to reach',
      [...of('bot'), '--threshold', '1'],
      /--evaluator is missing/,
    ],
    ['a threshold for no rows', [...of('bot', 'none', 'exact'), '--threshold', '0'], /no rows/],
    ['a metric that is none', [...of('bot'), '--metric', 'speed'], /--metric: "speed"/],
    ['a concurrency that is none', [...of('bot'), '--concurrency', '0'], /--concurrency: "0"/],
    [
      'a commit where there is no clone',
      [...of('bot'), '--commit', 'HEAD'],
      /--commit: "HEAD" names no commit/,
    ],
    [
      'an evaluation that is not there',
      ['--resume', '0f3c9a1b-e2d4-8000-8000-7d41c0aa93fe'],
      /no evaluation/,
    ],
    [
      'another testset for a resumed one',
      ['--resume', 'x', '--testset', 'capitals'],
      /--testset cannot be given/,
    ],
  ] as const) {
    it(`exits 128, which ends a bisection, for ${what}`, async () => {
      const { code, stderr } = await evaluate(args)
      expect([code, stderr]).to.satisfy(() => code === 128 && sentence.test(stderr), `${code}: ${stderr}`)
      expect(stderr).to.not.include('    at ')
    })
  }
})

function saying(key: string, kwargs: object): object {
  return { uri: 'svc:custom:mock:v0', parameters: { key, kwargs } }
}
