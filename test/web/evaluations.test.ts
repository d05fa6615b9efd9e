import { expect } from 'chai'
import { type ChatStub, startChatStub } from '../support/servers/chat-stub.ts'
import { closeBrowser } from '../support/browser/open-browser.ts'
import { type HoldingHook, startHoldingHook } from './support/holding-hook.ts'
import { openWorkbench, type Workbench } from './support/workbench.ts'

/** What outputs may hold: nothing of it may be more than text. */
const HOSTILE = `<script>document.title = 'taken'</script><img src="http://127.0.0.1:1/x.png"> javascript:alert(1) \u202Egnp.exe`

describe('workbench: evaluations', () => {
  let bench: Workbench
  let hook: HoldingHook
  let stub: ChatStub
  before(async () => {
    hook = await startHoldingHook()
    stub = await startChatStub()
    bench = await openWorkbench({
      HOOK_ALLOW_PRIVATE: 'true',
      OPENAI_API_KEY: 'sk-any',
      OPENAI_BASE_URL: stub.url,
    })
  })
  after(async () => {
    await closeBrowser()
    await bench.close()
    await hook.close()
    await stub.stop()
  })

  /** A prompt over the model that answers by the examples it is shown. */
  const promptOf = (examples: readonly (readonly [string, string])[]) => ({
    uri: 'svc:builtin:completion:v0',
    parameters: {
      prompt: {
        messages: [
          ...examples.flatMap(([country, capital]) => [
            { role: 'user', content: country },
            { role: 'assistant', content: capital },
          ]),
          { role: 'user', content: '{{country}}' },
        ],
        llm_config: { model: 'mock/examples' },
        template_format: 'curly',
      },
    },
  })
  const testset = (slug: string, rows: readonly object[]) =>
    bench.ask('POST', '/simple/testsets/', {
      testset: { slug, data: { testcases: rows.map((data) => ({ data })) } },
    })
  const run = async (application: string, rows: string, more: object = {}): Promise<string> => {
    const { evaluation } = await bench.ask('POST', '/evaluations/run', {
      testset_ref: { slug: rows },
      application_ref: { slug: application },
      evaluator_refs: [{ slug: 'exact' }],
      concurrency: 1,
      ...more,
    })
    return evaluation.id
  }

  it('says what runs are for where there are none, and starts one by keys alone', async () => {
    await bench.ask('POST', '/simple/applications/', {
      application: { slug: 'capitals', name: 'Capitals', data: promptOf([['Norway', 'Oslo']]) },
    })
    await bench.ask('POST', '/simple/evaluators/', {
      evaluator: {
        slug: 'exact',
        template: 'auto_exact_match',
        data: { parameters: { correct_answer_key: 'capital' } },
      },
    })
    await testset('countries', [
      { country: 'Norway', capital: 'Oslo' },
      { country: 'Peru', capital: 'Lima' },
      { country: 'Chad', capital: 'N’Djamena' },
    ])
    // Its message has the words, and it is newer.
    await bench.ask('POST', '/simple/testsets/', {
      testset: {
        slug: 'others',
        message: 'Not the countries',
        data: { testcases: [{ data: { country: 'Mali' } }] },
      },
    })
    const visit = await bench.visit({ path: '/eval' })
    const { page } = visit
    await page.getByText('An evaluation runs a prompt on every row of a testset').waitFor()
    await visit.expectNoBarriers()
    await page.keyboard.press('n')
    await page.waitForURL('**/eval?new=1')
    const form = page.getByRole('dialog', { name: 'Start an evaluation' })
    await form.getByRole('button', { name: /Choose a prompt first/ }).waitFor()
    await form.getByRole('combobox', { name: 'Prompt' }).fill('capit')
    await form.getByRole('option', { name: /Capitals/ }).waitFor()
    await page.keyboard.press('Enter')
    await form.getByRole('combobox', { name: 'Testset' }).fill('countries')
    await form.getByRole('option', { name: 'others' }).waitFor()
    expect(await form.getByRole('listbox').getByRole('option').allInnerTexts()).to.deep.equal([
      'countries',
      'others',
    ])
    await page.keyboard.press('Enter')
    await form.getByRole('combobox', { name: 'Add an evaluator' }).fill('exac')
    await form.getByRole('option', { name: 'exact' }).waitFor()
    await page.keyboard.press('Enter')
    await form.getByRole('button', { name: 'Leave out exact' }).waitFor()
    await form.getByLabel('Rows at once').fill('0')
    await form.getByText('A whole number from 1 to 64.').waitFor()
    await form.getByLabel('Rows at once').fill('1')
    await visit.expectNoBarriers()
    await visit.picture('evaluation-start-1440')
    await form.getByRole('button', { name: 'Start the evaluation' }).focus()
    await page.keyboard.press('Enter')
    await page.waitForURL('**/eval/*-*')
    await page.getByRole('heading', { name: 'capitals v1 on countries v1' }).waitFor()
    const summary = page.getByRole('region', { name: 'Results by evaluator' })
    await summary.getByRole('row', { name: /exact v1 1 of 3 33\.3 % 2 0 0 0\.333 over 3/ }).waitFor()
    await visit.close()
  })

  it('shows what came of each row beside what was expected; filters and the opened row have an address', async () => {
    const [id] = (await bench.ask('POST', '/evaluations/query', {})).evaluations.map((it: any) => it.id)
    const visit = await bench.visit({ path: `/eval/${id}` })
    const { page } = visit
    const rows = page.getByRole('table', { name: 'Rows of the evaluation' })
    await rows.getByRole('row', { name: /country Norway Oslo Oslo exact v1 passed \d/ }).waitFor()
    await rows.getByRole('row', { name: /country Peru Peru Lima exact v1 failed/ }).waitFor()
    await visit.expectNoBarriers()
    await page.getByRole('button', { name: 'Failed' }).click()
    await page.waitForURL('**?show=failed')
    await rows.getByText('Norway').waitFor({ state: 'detached' })
    await rows.getByText('Lima').waitFor()
    expect(await rows.getByRole('row').count()).to.equal(3)
    await page.keyboard.press('j')
    await page.keyboard.press('j')
    await page.keyboard.press('Enter')
    await page.waitForURL('**?show=failed&row=*')
    const panel = page.getByRole('complementary', { name: 'The opened row' })
    await panel.getByText('Expected (capital)').waitFor()
    await panel.getByText('N’Djamena').waitFor()
    await visit.expectNoBarriers()
    await page.keyboard.press('k')
    await panel.getByText('Lima').waitFor()
    await page.reload()
    await panel.getByText('Lima').waitFor()
    await panel.getByRole('link', { name: 'Its trace' }).click()
    await page.waitForURL('**/trace/*')
    await page.goBack()
    await panel.waitFor()
    await page.keyboard.press('Escape')
    await panel.waitFor({ state: 'detached' })
    await visit.close()
  })

  it('puts two runs side by side by row, also of two versions of a testset, and says what is better and worse', async () => {
    const left = await run('capitals', 'countries')
    const { application } = await bench.ask('GET', '/simple/applications/capitals')
    await bench.ask('POST', '/applications/revisions/commit', {
      application_revision_commit: {
        application_variant_id: application.variant_id,
        message: 'More examples',
        data: promptOf([
          ['Norway', 'Bergen'],
          ['Peru', 'Lima'],
        ]),
      },
    })
    const { testset_revision: head } = await bench.ask('POST', '/testsets/revisions/retrieve', {
      testset_ref: { slug: 'countries' },
    })
    const chad = head.data.testcase_ids[2]
    await bench.ask('POST', '/testsets/revisions/commit', {
      testset_revision_commit: {
        testset_id: head.testset_id,
        message: 'The country is spelled as in French',
        delta: {
          rows: {
            replace: [{ id: chad, data: { country: 'Tchad', capital: 'N’Djamena' } }],
            add: [{ data: { country: 'Fiji', capital: 'Suva' } }],
          },
        },
      },
    })
    const right = await run('capitals', 'countries')
    const visit = await bench.visit({ path: '/eval' })
    const { page } = visit
    const list = page.getByRole('table', { name: 'Evaluations' })
    await list.getByRole('row', { name: /capitals v2 countries v2 4 0 exact v1 25\.0 %/ }).waitFor()
    await visit.expectNoBarriers()
    await visit.picture('evaluations-1440')
    for (const key of ['j', 'Space', 'j', 'Space', 'c']) await page.keyboard.press(key)
    await page.waitForURL(`**/eval/${left}...${right}`)
    await page.getByText('v2 is better on 1 row · worse on 1 row').waitFor()
    await page.getByText('different output on 3 of 4 rows').waitFor()
    await page.getByText('Testset: v1 ran on countries v1, v2 on countries v2.').waitFor()
    const rows = page.getByRole('table', { name: 'Rows of both evaluations' })
    await rows.getByRole('row', { name: /country Norway Oslo Oslo Bergen worse passed failed/ }).waitFor()
    // The row that was edited is still one row.
    await rows.getByRole('row', { name: /country Tchad N’Djamena Chad Tchad same/ }).waitFor()
    await rows.getByRole('row', { name: /country Fiji Suva – Fiji only in one – failed/ }).waitFor()
    await visit.expectNoBarriers()
    await visit.picture('evaluations-compare-1440')
    await page.getByRole('button', { name: 'Better 1' }).click()
    await page.waitForURL('**?show=better')
    await rows.getByText('Peru').first().click()
    const panel = page.getByRole('complementary', { name: 'The opened row' })
    await panel.getByRole('group', { name: 'Outputs of v1 and v2' }).waitFor()
    await visit.expectNoBarriers()
    await visit.close()
  })

  it('draws what the runs of a variant came to over its versions, with the same numbers as a table', async () => {
    const { evaluations } = await bench.ask('POST', '/evaluations/query', { windowing: { limit: 1 } })
    const visit = await bench.visit({ path: `/eval/${evaluations[0].id}?tab=versions` })
    const { page } = visit
    await page
      .getByRole('img', { name: /Passed rows of capitals by version/ })
      .locator('canvas')
      .waitFor()
    await page.getByText('a difference may be chance').waitFor()
    const table = page.getByRole('region', { name: 'Evaluations of this variant' })
    await table.getByRole('row', { name: /v2 v2 4 25\.0 %/ }).waitFor()
    await table
      .getByRole('row', { name: /v1 v1 3 33\.3 %/ })
      .first()
      .waitFor()
    await visit.expectNoBarriers()
    await visit.picture('evaluation-versions-1440')
    await page.getByRole('link', { name: 'Mean score' }).click()
    await page.waitForURL('**?tab=versions&metric=score')
    await table.getByRole('row', { name: /v2 v2 4 0\.250/ }).waitFor()
    await visit.close()
  })

  it('gives no verdict where the evaluator changed, and has one revision judge both runs without running the prompt', async () => {
    const calls: string[] = []
    await bench.ask('POST', '/simple/applications/', {
      application: { slug: 'steady', data: promptOf([['Norway', 'Oslo']]) },
    })
    await testset('few', [
      { country: 'Norway', capital: 'Oslo', other: 'Bergen' },
      { country: 'Peru', capital: 'Lima', other: 'Peru' },
    ])
    const judge = await bench.ask('POST', '/simple/evaluators/', {
      evaluator: {
        slug: 'moving',
        template: 'auto_exact_match',
        data: { parameters: { correct_answer_key: 'capital' } },
      },
    })
    const evaluators = { evaluator_refs: [{ slug: 'moving' }, { slug: 'exact' }] }
    const left = await run('steady', 'few', evaluators)
    await bench.ask('POST', '/evaluators/revisions/commit', {
      evaluator_revision_commit: {
        evaluator_variant_id: judge.evaluator.variant_id,
        message: 'Another column',
        data: { uri: 'svc:builtin:auto_exact_match:v0', parameters: { correct_answer_key: 'other' } },
      },
    })
    const { application } = await bench.ask('GET', '/simple/applications/steady')
    await bench.ask('POST', '/applications/revisions/commit', {
      application_revision_commit: {
        application_variant_id: application.variant_id,
        message: 'The same again',
        data: promptOf([
          ['Norway', 'Oslo'],
          ['Chad', 'N’Djamena'],
        ]),
      },
    })
    const right = await run('steady', 'few', evaluators)

    const list = await bench.visit({ path: '/eval?application=steady' })
    await list.page
      .getByRole('row', {
        name: /steady v2 few v1 2 0 moving v2 50\.0 % not comparable with the previous evaluation, which v1 judged exact v1 50\.0 %/,
      })
      .waitFor()
    await list.expectNoBarriers()
    await list.close()

    const visit = await bench.visit({ path: `/eval/${left}...${right}` })
    const { page } = visit
    page.on('request', (request) => calls.push(new URL(request.url()).pathname))
    await page.getByText('Evaluator: moving v1 judged v1, moving v2 judged v2.').waitFor()
    const summary = page.getByRole('region', { name: 'Both evaluations by evaluator' })
    await summary.getByRole('row', { name: /moving v1 and v2: not comparable 50\.0 % 50\.0 %/ }).waitFor()
    await summary.getByRole('row', { name: /exact v1 50\.0 % 50\.0 %/ }).waitFor()
    // By `moving` Norway would be worse and Peru better; `exact` stayed what it was, and found no difference.
    await page.getByText('is better on 0 rows · worse on 0 rows').waitFor()
    await visit.expectNoBarriers()
    await visit.picture('evaluations-incomparable-1440')
    await page.getByRole('button', { name: 'Judge the older evaluation again' }).click()
    await page.waitForURL((url) => url.pathname.endsWith(`...${right}`) && !url.pathname.includes(left))
    const [judged] = new URL(page.url()).pathname.split('/').at(-1)?.split('...') ?? []
    await summary.getByRole('row', { name: /moving v2 50\.0 % 50\.0 %/ }).waitFor()
    await page.getByText('is better on 0 rows · worse on 0 rows').waitFor()
    expect(await page.getByRole('button', { name: 'Judge the older evaluation again' }).count()).to.equal(0)
    expect(calls.filter((path) => path.endsWith('/judge'))).to.deep.equal([`/api/evaluations/${left}/judge`])
    expect(calls).to.not.include('/api/evaluations/run')
    const { evaluation } = await bench.ask('GET', `/evaluations/${judged}`)
    expect(evaluation.outputs_from).to.equal(left)
    // The rows of one of several evaluators.
    await visit.go(`/eval/${right}?show=failed`)
    const rows = page.getByRole('table', { name: 'Rows of the evaluation' })
    await rows.getByText('Lima').waitFor()
    await page.getByLabel('Evaluator', { exact: true }).selectOption('moving')
    await page.waitForURL('**?show=failed&by=moving')
    await rows.getByText('Lima').waitFor({ state: 'detached' })
    await rows.getByText('Norway').waitFor()
    expect(await rows.getByText('Lima').count(), 'moving passed it').to.equal(0)
    await visit.close()
  })

  it('says not comparable of every row where no evaluator stayed the same, and over versions has a line for each', async () => {
    const order = (version: number) => ({
      evaluator_refs: [],
      evaluator_revision_refs: [{ slug: `moving-${version}` }],
    })
    const application = { application_ref: undefined, application_revision_ref: { slug: 'steady-1' } }
    const left = await run('steady', 'few', { ...application, ...order(1) })
    const right = await run('steady', 'few', order(2))
    const visit = await bench.visit({ path: `/eval/${left}...${right}` })
    const { page } = visit
    await page.getByText('worse on 0 rows · better and worse on 0 rows · not comparable on 2 rows').waitFor()
    const rows = page.getByRole('table', { name: 'Rows of both evaluations' })
    await rows.getByRole('row', { name: /country Norway .*not comparable.* passed failed/ }).waitFor()
    await page.getByRole('button', { name: 'Not comparable 2' }).waitFor()
    await visit.close()

    const over = await bench.visit({ path: `/eval/${right}?tab=versions` })
    await over.page.getByText('The evaluator changed: moving v2, moving v1').waitFor()
    const table = over.page.getByRole('region', { name: 'Evaluations of this variant' })
    await table.getByRole('columnheader', { name: 'moving v1' }).waitFor()
    await table.getByRole('columnheader', { name: 'moving v2' }).waitFor()
    // The first run of all was judged again above.
    const buttons = table.getByRole('button', { name: 'Judge the older evaluation again' })
    expect(await buttons.count()).to.equal(1)
    await over.expectNoBarriers()
    await over.picture('evaluation-versions-incomparable-1440')
    await buttons.click()
    await buttons.waitFor({ state: 'detached' })
    const newest = { windowing: { limit: 1, order: 'descending' } }
    let judged
    do judged = (await bench.ask('POST', '/evaluations/query', newest)).evaluations[0]
    while (judged.state === 'running')
    expect(judged).to.deep.include({ outputs_from: left, state: 'finished' })
    expect(judged.evaluators.map((it: any) => it.version)).to.deep.equal([2])
    await over.close()
  })

  it('follows a run while it goes on; stops it, and resumes it without running a row twice', async () => {
    await bench.ask('POST', '/simple/applications/', {
      application: { slug: 'slow', data: { uri: 'svc:custom:hook:v0', url: hook.url } },
    })
    await testset('numbers', [{ n: 1 }, { n: 2 }, { n: 3 }])
    const id = await run('slow', 'numbers', { evaluator_refs: [], wait: false })
    const others = await bench.visit({ path: '/eval' })
    const watching = await bench.visit({ path: `/eval/${id}` })
    const visit = await bench.visit({ path: `/eval/${id}` })
    const { page } = visit
    await page.getByRole('progressbar', { name: 'Running' }).waitFor()
    await page.getByText('Running: 1 of 3 rows').waitFor()
    await page.getByRole('table', { name: 'Rows of the evaluation' }).getByText('doubled').waitFor()
    await visit.expectNoBarriers()
    await others.page.getByText('1 of 3').waitFor()
    const seen = watching.page.getByRole('table', { name: 'Rows of the evaluation' })
    await seen.getByText('doubled').first().waitFor()
    expect(await seen.getByText('doubled').count()).to.equal(1)
    await page.getByRole('button', { name: 'Stop the evaluation' }).click()
    await page.getByText('Interrupted: 1 of 3 rows').waitFor()
    await others.page.getByRole('row', { name: /interrupted slow v1 numbers v1 1 of 3 0/ }).waitFor()
    hook.release()
    await page.getByRole('button', { name: 'Resume the evaluation' }).click()
    await page.getByRole('button', { name: 'Run again' }).waitFor()
    expect(hook.calls(1), 'what was done is not run again').to.equal(1)
    // Windows of others show it without a reload: the list, and the rows as they come.
    await others.page.getByRole('row', { name: /finished slow v1 numbers v1 3 0/ }).waitFor()
    await seen.getByText('doubled').nth(2).waitFor()
    await watching.page.getByRole('button', { name: 'Run again' }).waitFor()
    // A screen reader is told of the end.
    await watching.page.getByRole('status').getByText('The evaluation finished: 3 rows.').waitFor()
    for (const each of [visit, others, watching]) await each.close()
  })

  it('finds the row that fails, runs it again by a key, and with the fixed prompt in an evaluation of that row', async () => {
    const fixed = (capital: string) => promptOf([['Peru', capital]])
    const { application } = await bench.ask('POST', '/simple/applications/', {
      application: { slug: 'fixable', data: fixed('Wrong') },
    })
    await testset('pair', [
      { country: 'Norway', capital: 'Norway' },
      { country: 'Peru', capital: 'Lima' },
    ])
    const id = await run('fixable', 'pair')
    const visit = await bench.visit({ path: `/eval/${id}` })
    const { page } = visit
    const rows = page.getByRole('table', { name: 'Rows of the evaluation' })
    await page.getByRole('button', { name: 'Failed' }).click()
    await rows.getByText('Wrong').click()
    const panel = page.getByRole('complementary', { name: 'The opened row' })
    await panel.getByRole('button', { name: 'Run this row again' }).waitFor()
    expect(
      await panel.getByRole('button', { name: /Run with/ }).count(),
      'there is no newer version',
    ).to.equal(0)
    const { results } = await bench.ask('POST', `/evaluations/${id}/results`, {
      result: { outcome: 'failed' },
    })
    const asked: string[] = []
    page.on('request', (request) => asked.push(new URL(request.url()).pathname))
    await page.keyboard.press('r')
    await panel.getByRole('status').getByText('Run again: exact v1 failed').waitFor()
    expect(asked).to.include(`/api/evaluations/${id}/rerun`)
    expect(asked, 'no other row is loaded anew').to.not.include('/api/testcases/query')
    const again = await bench.ask('POST', `/evaluations/${id}/results`, { result: { outcome: 'failed' } })
    expect(again.results[0].testcase_id).to.equal(results[0].testcase_id)
    await bench.ask('POST', '/applications/revisions/commit', {
      application_revision_commit: {
        application_variant_id: application.variant_id,
        message: 'The capital of Peru',
        data: fixed('Lima'),
      },
    })
    await page.reload()
    await panel.getByRole('button', { name: 'Run with v2' }).waitFor()
    await visit.expectNoBarriers()
    await visit.picture('evaluation-row-1440')
    await panel.getByRole('button', { name: 'Run with v2' }).click()
    await page.getByRole('heading', { name: 'fixable v2 on pair v1' }).waitFor()
    await page.getByText('one row only').waitFor()
    await rows.getByRole('row', { name: /country Peru Lima Lima exact v1 passed/ }).waitFor()
    expect(await rows.getByRole('row').count()).to.equal(2)
    await visit.close()
    const { key } = await bench.ask('POST', '/keys/', { key: { name: 'onlooker', scopes: ['read'] } })
    const reader = await bench.visit({ path: `/eval/${id}?row=${results[0].testcase_id}`, key: key.secret })
    for (const name of [/Run this row again.*lacks the scope invoke/, /Run with v2.*lacks the scope invoke/])
      await reader.page.getByRole('button', { name }).waitFor()
    await reader.close()
  })

  it('reads a chat as text and as messages, in the order of the testset, with tokens and times, and leads to the playground', async () => {
    await bench.ask('POST', '/simple/applications/', {
      application: {
        slug: 'chatter',
        data: { ...promptOf([]), uri: 'svc:builtin:chat:v0' },
      },
    })
    const said = Array.from({ length: 9 }, (_, at) => `Number ${at} of nine`)
    await testset(
      'talks',
      said.map((content, at) => ({ country: `${at}`, messages: [{ role: 'user', content }], capital: '' })),
    )
    const id = await run('chatter', 'talks', { concurrency: 9 })
    const { evaluation } = await bench.ask('GET', `/evaluations/${id}`)
    const visit = await bench.visit({ path: `/eval/${id}` })
    const { page } = visit
    const rows = page.getByRole('table', { name: 'Rows of the evaluation' }).getByRole('row')
    await rows.nth(9).waitFor()
    for (const [at, text] of said.entries())
      expect(await rows.nth(at + 1).textContent(), 'the row and its output, without JSON').to.match(
        new RegExp(`country ?${at} messages ?${text} ${text}`),
      )
    const { tokens } = evaluation.summary.usage
    expect(tokens.total).to.be.above(0)
    await page.getByText('Tokens').waitFor()
    await page.getByText(tokens.total.toLocaleString('en-US'), { exact: true }).waitFor()
    await page.getByText('Time of all rows').waitFor()
    await rows.nth(3).click()
    const panel = page.getByRole('complementary', { name: 'The opened row' })
    for (const role of ['user', 'assistant'])
      await panel.getByRole('listitem').filter({ hasText: role }).getByText('Number 2 of nine').waitFor()
    await visit.expectNoBarriers()
    const open = panel.getByRole('link', { name: 'Open in playground' })
    expect(await open.getAttribute('href')).to.match(
      /^\/a\/chatter\/run\?left=r%3Achatter-1&.*trace=[0-9a-f]{32}$/,
    )
    await open.click()
    const message = page.getByLabel('Text of conversation message 1')
    await message.waitFor()
    expect(await message.inputValue()).to.equal('Number 2 of nine')
    await visit.close()
  })

  it('sums what the rows cost where the price of the model is known, and says it of each row and trace', async () => {
    const { parameters, ...rest } = promptOf([])
    const prompt = { ...parameters.prompt, llm_config: { model: 'gpt-4.1' } }
    await bench.ask('POST', '/simple/applications/', {
      application: { slug: 'priced', data: { ...rest, parameters: { prompt } } },
    })
    await testset('paid', [
      { country: 'France', capital: 'Paris' },
      { country: 'Peru', capital: 'Lima' },
    ])
    const id = await run('priced', 'paid')
    const visit = await bench.visit({ path: `/eval/${id}` })
    const { page } = visit
    // Each row: 11 tokens at 2 and 7 at 8 dollars for a million.
    const cost = page.locator('dl > div').filter({ has: page.getByText('Cost', { exact: true }) })
    await cost.getByText('$0.00016', { exact: true }).waitFor()
    await page.getByRole('table', { name: 'Rows of the evaluation' }).getByText('Peru').click()
    const panel = page.getByRole('complementary', { name: 'The opened row' })
    await panel.getByText(/18 tokens · \$0\.000078$/).waitFor()
    await visit.expectNoBarriers()
    await panel.getByRole('link', { name: 'Its trace' }).click()
    await page.getByLabel('The picked span').getByText('$0.000078', { exact: true }).waitFor()
    await visit.close()
  })

  it('shows hostile rows and outputs as text, a row of ten thousand columns, and lines of a megabyte', async () => {
    await bench.ask('POST', '/simple/applications/', { application: { slug: 'echo', data: promptOf([]) } })
    await testset('hostile', [
      { country: HOSTILE, capital: HOSTILE },
      { country: 'x'.repeat(1_000_000), capital: '**bold** ![](http://127.0.0.1:1/y.png)' },
      Object.fromEntries([
        ['country', 'wide'],
        ...Array.from({ length: 9_990 }, (_, at) => [`column ${at}`, at]),
      ]),
    ])
    const id = await run('echo', 'hostile')
    const visit = await bench.visit({ path: `/eval/${id}` })
    const { page } = visit
    const rows = page.getByRole('table', { name: 'Rows of the evaluation' })
    await rows.getByText('<script>').first().waitFor()
    await rows.getByText('wide').first().click()
    await page.getByText(/9,95\d more/).waitFor()
    await rows.getByText('xxxx').first().click()
    const panel = page.getByRole('complementary', { name: 'The opened row' })
    await panel.getByRole('button', { name: 'show all 1,000,000 characters' }).first().waitFor()
    await rows.getByText('<script>').first().click()
    await panel.getByText('<script>').first().waitFor()
    await visit.expectNoBarriers()
    expect(await page.title()).to.include('echo v1 on hostile v1')
    await visit.close()
  })

  it('says of a prompt that fails on every row how it failed, and of a key or an address what is wrong with it', async () => {
    await bench.ask('POST', '/simple/applications/', {
      application: { slug: 'failing', data: promptOf([['{{nothing}}', 'x']]) },
    })
    const id = await run('failing', 'countries')
    const visit = await bench.visit({ path: `/eval/${id}?show=error` })
    const { page } = visit
    await page.getByText('The prompt failed on 4 of 4 rows').waitFor()
    const rows = page.getByRole('table', { name: 'Rows of the evaluation' })
    await rows.getByText('skipped').first().waitFor()
    expect(await rows.getByText('! error').count()).to.equal(4)
    await visit.expectNoBarriers()
    await visit.go('/eval/01a214c6-257f-7254-b779-b820e71074b5')
    await page.getByText('There is no evaluation with the id').waitFor()
    await visit.close()

    const { key } = await bench.ask('POST', '/keys/', { key: { name: 'reader', scopes: ['read'] } })
    const reader = await bench.visit({ path: '/eval', key: key.secret })
    const start = reader.page.getByRole('button', { name: /Start an evaluation.*lacks the scope invoke/ })
    await start.click({ force: true })
    expect(reader.page.url()).to.match(/\/eval$/)
    await reader.close()
  })

  it('keeps what was chosen where the server refuses to start, and says why', async () => {
    await bench.ask('POST', '/simple/applications/', {
      application: { slug: 'mute', data: { parameters: { greeting: 'Hello' } } },
    })
    const visit = await bench.visit({ path: '/eval?new=1&prompt=mute&testset=countries' })
    const form = visit.page.getByRole('dialog')
    await form.getByRole('button', { name: 'Start the evaluation' }).click()
    await form.getByRole('alert').getByText('names no handler, so it cannot run').waitFor()
    expect(await form.getByRole('combobox', { name: 'Prompt' }).inputValue()).to.equal('mute')
    await visit.close()
  })

  it('fits a telephone', async () => {
    const { evaluations } = await bench.ask('POST', '/evaluations/query', {
      windowing: { limit: 2, order: 'ascending' },
    })
    const [one, two] = evaluations.map((it: any) => it.id)
    for (const [name, path] of [
      ['evaluations', '/eval'],
      ['evaluation', `/eval/${one}`],
      ['evaluations-compare', `/eval/${one}...${two}`],
    ] as const) {
      const visit = await bench.visit({ path, width: 390, height: 844 })
      await visit.page.getByRole('table').first().waitFor()
      expect(await visit.page.evaluate('document.documentElement.scrollWidth'), path).to.be.at.most(390)
      await visit.expectNoBarriers()
      await visit.picture(`${name}-390`)
      await visit.close()
    }
  })
})
