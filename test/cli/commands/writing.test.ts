import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { ADMIN_KEY, type RunningService, startService } from '../../support/servers/service.ts'
import { runHere, type Said } from '../command-here.ts'

describe('commands that write to a server', () => {
  let service: RunningService
  let folder: string
  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'writing-'))
    service = await startService()
    writeFileSync(join(folder, 'prompt.json'), PROMPT)
  })
  after(async () => {
    await service.stop()
    rmSync(folder, { recursive: true, force: true })
  })

  const run = (args: string | readonly string[], env: Record<string, string> = {}): Promise<Said> => {
    const given = { BRANCHPOINT_URL: service.url, BRANCHPOINT_KEY: ADMIN_KEY, ...env }
    const words = typeof args === 'string' ? args.split(' ') : args
    return runHere(words, { env: { PATH: process.env['PATH'], HOME: folder, ...given }, cwd: folder })
  }
  /** What was done: said on standard error, with nothing on standard output. */
  const done = async (args: string | readonly string[], env?: Record<string, string>): Promise<string> => {
    const { code, stdout, stderr } = await run(args, env)
    expect([code, stdout], `${String(args)}: ${stderr}`).to.deep.equal([0, ''])
    return stderr.replace(` at ${service.url}.\n`, '')
  }
  const refused = async (args: string | readonly string[], code = 1): Promise<string> => {
    const said = await run(args)
    expect([said.code, said.stdout], String(args)).to.deep.equal([code, ''])
    return said.stderr
  }
  const data = async (name: string): Promise<string> => (await run(['get', name, '--json'])).stdout
  const text = async (name: string): Promise<string> =>
    (await run(['get', name, '--message', 'system'])).stdout
  let made = 0
  /** A prompt with one version. */
  async function prompt(): Promise<string> {
    const name = `prompt-${++made}`
    expect(await done(`commit ${name} --create --file prompt.json`)).to.equal(`Created the prompt ${name}`)
    return name
  }
  const say = (name: string, words: string) => ['commit', name, '-m', words, '--set', `${SYSTEM}=${words}`]

  it('commit changes single values exactly, and leaves all others as they are', async () => {
    const bot = await prompt()
    expect(
      await done(`commit ${bot} -m Cooler --set parameters.prompt.llm_config.temperature=0.20`),
    ).to.equal(`Committed ${bot}@2`)
    expect(await data(bot))
      .to.contain('"temperature":0.20')
      .and.contain('"seed":12345678901234567890')
    const set = (path: string) => ['--set', path]
    await done([
      'commit',
      bot,
      ...set(`${SYSTEM}=Be "brief".`),
      ...set('parameters.prompt.messages.2={"role":"user","content":"Now?"}'),
    ])
    expect((await run(['get', bot])).stdout).to.equal('system:\nBe "brief".\n\nuser:\n{{q}}\n\nuser:\nNow?\n')
    expect((await run(['log', bot, '--limit', '3'])).stdout).to.contain('Cooler')
    expect(
      await done(`commit ${bot} --set parameters.prompt.llm_config.temperature=0.20 --if-changed`),
    ).to.equal(`Nothing changed in ${bot}@3`)
    const { stdout, code } = await run(`commit ${bot} --set uri=svc:builtin:chat:v0 --json`)
    expect([code, JSON.parse(stdout).application_revision.version]).to.deep.equal([0, 4])
  })

  it('commit refuses paths that lead nowhere, what is no JSON, and wrong use, and stores nothing', async () => {
    const bot = await prompt()
    writeFileSync(join(folder, 'bad.json'), '{"a": 1,\n "a": 2}')
    for (const [words, code, sentence] of [
      [
        '--set parameters.none.model=x',
        1,
        '--set: parameters.none.model: "none" is not there; set it first. Nothing was stored.',
      ],
      ['--set parameters.prompt.messages.3=x', 1, '"3" is not a place in a list of 2'],
      ['--set parameters.prompt.messages.2.content=x', 1, '"2" is not a place in a list of 2'],
      ['--set uri.x=1', 1, 'what is above "x" is not there'],
      ['--file bad.json', 1, '--file: "bad.json": JSON line 2'],
      ['--file none.json', 1, '--file: "none.json" cannot be read: no such file'],
      ['--set =1', 2, '--set: "=1" has no name before a "="'],
      ['--set a=1 --file prompt.json', 2, 'with one of --set, --file and --edit'],
      ['', 2, 'with one of --set, --file and --edit'],
      ['--template chat --set a=1', 2, '--template goes with --create'],
      ['--create --edit', 2, '--create goes with --file or --set'],
    ] as const) {
      expect(await refused(`commit ${bot} ${words}`.trim(), code), words).to.contain(sentence)
    }
    expect(await refused(`commit ${bot}@1 --set uri=x`, 2)).to.contain('goes after the latest version')
    expect(await refused(`commit promt-1 --set uri=x`)).to.contain('Did you mean "prompt-1"')
    expect(await refused(`commit ${bot} --create --file prompt.json`)).to.contain('taken')
    expect((await run(`log ${bot}`)).stdout.split('\n')).to.have.length(3)
    const { key } = (await service.post('/keys', { key: { name: 'reader', scopes: ['read'] } })).body
    const without = await run(`commit ${bot} --set uri=x`, { BRANCHPOINT_KEY: key.secret })
    expect([without.code, without.stderr]).to.deep.equal([
      1,
      'The key "reader" has the scopes read; this request needs "write". Use a key that has it.\n',
    ])
  })

  it('commit --edit commits what the editor saved, after the version that it showed', async () => {
    const bot = await prompt()
    const editor = (script: string) => ({ EDITOR: `sed -i '${script}'` })
    expect(await done(`commit ${bot} --edit`, { EDITOR: 'true' })).to.equal(
      'Nothing was changed, so nothing was committed.\n',
    )
    expect(await done(`commit ${bot} --edit -m Brief`, editor('s/kind/brief/'))).to.equal(
      `Committed ${bot}@2`,
    )
    expect(await text(bot)).to.equal('Be brief.\n')
    const broken = await run(`commit ${bot} --edit`, editor('1s/{/[/'))
    const kept = /^(\S+\.json): JSON line/.exec(broken.stderr)?.[1] ?? ''
    expect([broken.code, existsSync(kept)]).to.deep.equal([1, true])
    expect(readFileSync(kept, 'utf8')).to.contain('Be brief.')
    rmSync(join(kept, '..'), { recursive: true })
    // Somebody else commits while the editor is open.
    const program = join(folder, 'slow-editor')
    const other = say(bot, 'Somebody')
      .map((it) => `'${it}'`)
      .join(' ')
    const cli = new URL('../../../src/cli/main.js', import.meta.url).pathname
    writeFileSync(
      program,
      `#!/bin/sh\n${process.execPath} ${cli} ${other} 2>/dev/null\nsed -i 's/brief/late/' "$1"\n`,
      { mode: 0o755 },
    )
    const late = await run(`commit ${bot} --edit`, { VISUAL: program })
    expect([late.code, await text(bot)]).to.deep.equal([1, 'Somebody\n'])
  })

  it('creates evaluators from templates, and runs them and prompts', async () => {
    const parameters = 'parameters={"correct_answer_key": "capital"}'
    expect(
      await done([
        'commit',
        'evaluators/exact',
        '--create',
        '--template',
        'auto_exact_match',
        '--set',
        parameters,
      ]),
    ).to.equal('Created the evaluator exact')
    const verdict = await run('run exact --input capital=Oslo --outputs Oslo')
    expect([verdict.code, JSON.parse(verdict.stdout)]).to.deep.equal([0, { success: true }])
    await run(['commit', 'echo', '--create', '--file', 'prompt.json'])
    await done('deploy echo staging')
    const { stdout, stderr } = await run(['run', 'echo@staging', '--input', 'q=What?'])
    expect(stdout).to.equal('What?\n')
    const [, trace] =
      /^Ran echo@staging at \S+\. How: branchpoint traces show ([0-9a-f]{32})\n$/.exec(stderr) ?? []
    const shown = (await run(`traces show ${trace}`)).stdout
    expect(shown).to.match(
      /^echo-1 \(completion_v0\)\n {2}when +20\S+Z\n {2}took +\d+ ms\n {2}state +ok\n {2}inputs .*What\?.*\n {2}outputs +What\?/,
    )
    const failed = await run(['run', 'echo'])
    expect([failed.code, failed.stdout]).to.deep.equal([1, ''])
    expect(failed.stderr).to.contain('q')
    const listed = (await run('traces list echo')).stdout
    expect(listed)
      .to.match(/^TRACE +WHEN +WHAT +MS +STATE\n/)
      .and.contain(`${trace}  `)
    const failures = (await run('traces list echo --failed')).stdout
    expect(failures).to.contain('failed: ').and.not.contain(trace)
    expect(JSON.parse((await run('traces list echo --limit 1 --json')).stdout)).to.have.property('count', 1)
    expect(await refused('traces show 0')).to.contain('trace')
    writeFileSync(join(folder, 'inputs.json'), '{"1": 12345678901234567890, "q": "Who?"}')
    expect((await run('run echo --inputs inputs.json')).stdout).to.equal('Who?\n')
    expect((await run(['run', 'echo', '--inputs', 'inputs.json', '--input', 'q=Which?'])).stdout).to.equal(
      'Which?\n',
    )
    writeFileSync(join(folder, 'list.json'), '[1]')
    expect(await refused('run echo --inputs list.json')).to.contain('no object of inputs')
    expect(await refused('commit listed --create --file list.json')).to.contain('data')
    expect(await refused('run echo --inputs none.json')).to.contain('--inputs: "none.json" cannot be read')
  })

  it('fork, merge and revert work on variants, and name conflicts', async () => {
    const bot = await prompt()
    await done(say(bot, 'Two'))
    expect(await done(`fork ${bot}@1 warmer`)).to.equal(`Forked ${bot}@1 as ${bot}:warmer`)
    expect(await refused(`fork ${bot}@1 warmer`)).to.contain('warmer')
    expect(await done(say(`${bot}:warmer`, 'Warm'))).to.equal(`Committed ${bot}:warmer@2`)
    const dry = await run(`merge ${bot}:warmer ${bot} --dry-run`)
    expect([dry.code, dry.stderr]).to.deep.equal([1, `There would be conflicts (merge) at ${service.url}.\n`])
    const conflict = await refused(`merge ${bot}:warmer ${bot}`)
    expect(conflict).to.match(
      /^Both sides changed the same.*--take source or --take target:\n {2}\/parameters\/prompt\/messages\/0\/content: both changed\n/,
    )
    expect(conflict).to.contain('\n    <<<<<<< target\n    Two\n')
    expect(await done(`merge ${bot}:warmer ${bot} --take source -m Warmer`)).to.equal(
      `Merged ${bot}:warmer into ${bot}@3`,
    )
    expect(await text(bot)).to.equal('Warm\n')
    expect(await done(`merge ${bot}:warmer ${bot}`)).to.equal(`${bot} has everything that ${bot}:warmer has`)
    expect(await done(`merge ${bot} ${bot}:warmer --dry-run`)).to.contain('without conflicts')
    expect(await done(`revert ${bot}:warmer@2`)).to.equal(`Reverted ${bot}:warmer@2 in ${bot}:warmer@3`)
    expect(await text(`${bot}:warmer`)).to.equal('Be kind.\n')
    expect(await refused(`revert ${bot}`, 2)).to.contain('names no version')
    expect(await refused(`revert ${bot}@1`)).to.contain('first')
    expect(await refused(`merge ${bot}:warmer ${bot}@1`, 2)).to.contain('the target is a variant')
    expect(await refused(`merge ${bot}:warmer ${bot} --take base`, 2)).to.contain('neither source nor target')
    expect(await refused(`merge ${bot}:none ${bot}`)).to.contain('none')
  })

  it('deploy and rollback move an environment; a second rollback goes further back, and not forward again', async () => {
    const bot = await prompt()
    await done(say(bot, 'Two'))
    await done(say(bot, 'Three'))
    expect(await done(`deploy ${bot}@1 production -m First`)).to.equal(`Deployed ${bot}@1 to production`)
    expect(await done(`deploy ${bot}@1 production`)).to.equal(`production runs ${bot}@1 already`)
    // What others deploy there is not in the way.
    const other = await prompt()
    await done(`deploy ${other} production`)
    await done(`deploy ${bot}@2 production`)
    await done(`deploy ${bot} production`)
    await done(`deploy ${other}@1 staging`)
    expect(await done(`rollback ${bot} production -m Slow`)).to.equal(`Deployed ${bot}@2 to production`)
    expect(await done(`rollback ${bot} production`)).to.equal(`Deployed ${bot}@1 to production`)
    expect(await refused(`rollback ${bot} production`)).to.contain(
      `production ran no other version of ${bot} before`,
    )
    expect(await text(`${bot}@production`)).to.equal('Be kind.\n')
    expect(await done(`deploy ${bot}@production staging`)).to.equal(`Deployed ${bot}@1 to staging`)
    expect(await refused(`rollback ${bot}@2 production`, 2)).to.contain('finds the version itself')
    expect(await refused(`rollback ${bot} development`)).to.contain('development')
    expect(await refused(`deploy ${bot} nowhere`)).to.contain('nowhere')
    expect(await refused(`deploy ${bot}`, 2)).to.contain('Name what to deploy, and the environment.')
  })
})

const SYSTEM = 'parameters.prompt.messages.0.content'
const PROMPT = `{"uri": "svc:builtin:completion:v0", "parameters": {"prompt": {"messages": [{"role": "system", "content": "Be kind."},
  {"role": "user", "content": "{{q}}"}], "llm_config": {"model": "mock/examples", "temperature": 0.70, "seed": 12345678901234567890},
  "template_format": "curly"}}}`
