import { expect } from 'chai'
import { closeBrowser } from '../support/browser/open-browser.ts'
import type { Page } from 'playwright-core'
import { eventually } from '../http/environments/environment-client.ts'
import { openWorkbench, type Workbench } from './support/workbench.ts'

describe('workbench: running', () => {
  let bench: Workbench
  before(async () => {
    bench = await openWorkbench()
    await makeApplication('capitals', {
      uri: 'svc:builtin:completion:v0',
      parameters: {
        prompt: {
          messages: [
            { role: 'system', content: 'Name the capital.' },
            { role: 'user', content: 'Norway' },
            { role: 'assistant', content: 'Oslo' },
            { role: 'user', content: '{{country}}' },
          ],
          llm_config: { model: 'mock/examples' },
          template_format: 'curly',
        },
      },
    })
    await bench.ask('POST', '/simple/testsets/', {
      testset: {
        slug: 'countries',
        data: { testcases: ['Norway', 'Peru', 'Chad'].map((country) => ({ data: { country } })) },
      },
    })
  })
  after(async () => {
    await closeBrowser()
    await bench.close()
  })

  async function makeApplication(slug: string, data: object): Promise<void> {
    await bench.ask('POST', '/simple/applications/', { application: { slug, data } })
  }

  const holds = (page: Page, country: string): Promise<void> =>
    eventually(
      async () => (await page.getByLabel('country').inputValue()) === country,
      `the input ${country}`,
    )

  const mock = (slug: string, key: string, kwargs: object = {}): Promise<void> =>
    makeApplication(slug, { uri: 'svc:custom:mock:v0', parameters: { key, kwargs } })

  it('runs a revision with typed inputs by keyboard: reply, tokens, time, its trace, and the run again', async () => {
    const visit = await bench.visit({ path: '/a/capitals/run' })
    const { page } = visit
    await page.getByLabel('country').fill('Norway')
    await visit.expectNoBarriers()
    await page.keyboard.press('Control+Enter')
    const output = page.getByRole('region', { name: 'Output' })
    await output.getByText('Oslo').waitFor()
    await output.getByText('done').waitFor()
    await output.getByText(/\d+ tokens/).waitFor()
    await output.getByText(/\d ms|\d s/).waitFor()
    await visit.expectNoBarriers()
    await visit.picture('run-1440')
    const trace = await output.getByRole('link', { name: 'trace' }).getAttribute('href')
    expect(trace).to.match(/^\/trace\/[0-9a-f]{32}$/)

    await page.getByLabel('country').fill('Elsewhere')
    await page.keyboard.press('Control+Enter')
    await output.getByText('Elsewhere').waitFor()
    const recent = page.getByRole('region', { name: 'Runs in this window' })
    await recent.getByRole('button', { name: 'Show' }).nth(1).click()
    await output.getByText('Oslo').waitFor()
    expect(await page.getByLabel('country').inputValue()).to.equal('Norway')
    await recent.getByRole('button', { name: 'These inputs again' }).first().click()
    await holds(page, 'Elsewhere')
    await output.getByText('Oslo').waitFor()

    await eventually(async () => {
      const answer = await fetch(`${bench.url}${trace?.replace('/trace/', '/traces/')}`, {
        headers: { Authorization: `ApiKey ${bench.key}` },
      })
      return answer.ok
    }, 'the trace is stored')
    await visit.go(`/a/capitals/run?trace=${trace?.slice('/trace/'.length)}`)
    await holds(page, 'Norway')
    await visit.close()
  })

  it('takes rows of a testset, and steps through them with [ and ]', async () => {
    const visit = await bench.visit({ path: '/a/capitals/run' })
    const { page } = visit
    const testset = page.getByRole('combobox', { name: 'Use a testset row (optional)' })
    await testset.fill('countries')
    await page.getByRole('option', { name: 'countries' }).click()
    await page.getByText('row 1 of 3').waitFor()
    await holds(page, 'Norway')
    await page.getByRole('heading', { name: 'Inputs' }).click()
    await page.keyboard.press(']')
    await page.getByText('row 2 of 3').waitFor()
    await holds(page, 'Peru')
    expect(new URL(page.url()).search).to.equal('?testset=countries&row=2')
    await page.getByRole('button', { name: /^Run v1/ }).click()
    const output = page.getByRole('region', { name: 'Output' })
    await output.getByText('done').waitFor()
    await page.getByRole('heading', { name: 'Inputs' }).click()
    await page.keyboard.press(']')
    await page.getByText('row 3 of 3').waitFor()
    // There is no fourth one.
    await page.keyboard.press(']')
    await page.keyboard.press('[')
    await page.getByText('row 2 of 3').waitFor()
    // The trace names the row that was run.
    const { traces } = await bench.ask('POST', '/traces/query', {})
    expect(JSON.stringify(traces)).to.include('"testcase"')
    await visit.close()
  })

  it('shows a reply while it is written', async () => {
    await mock('words', 'events', { text: 'one two three' })
    const visit = await bench.visit({ path: '/a/words/run', width: 390, height: 844 })
    const { page } = visit
    await page.getByRole('button', { name: /^Run v1/ }).click()
    const output = page.getByRole('region', { name: 'Output' })
    await output.getByText('one two three').waitFor()
    await output.getByText('assistant').waitFor()
    await output.getByText('3 tokens').waitFor()
    await visit.expectNoBarriers()
    await visit.picture('run-390')
    await visit.close()
  })

  it('stops a run that takes too long', async () => {
    await mock('slow', 'delay', { seconds: 600 })
    const visit = await bench.visit({ path: '/a/slow/run' })
    const { page } = visit
    await page.getByRole('button', { name: /^Run v1/ }).click()
    await page.getByRole('button', { name: 'Stop' }).click()
    await page.getByRole('region', { name: 'Output' }).getByText('stopped').waitFor()
    await page.getByRole('button', { name: /^Run v1/ }).waitFor()
    await visit.close()
  })

  it('says in the server’s own sentence why a run failed, with its code and its trace', async () => {
    await mock('broken', 'error', { message: '<script>document.title = 1</script> has no answer' })
    const visit = await bench.visit({ path: '/a/broken/run' })
    const { page } = visit
    await page.getByRole('button', { name: /^Run v1/ }).click()
    const failure = page.getByRole('alert')
    await failure.getByText('<script>document.title = 1</script> has no answer').waitFor()
    await failure.getByText('mock_error').waitFor()
    await page.getByRole('region', { name: 'Output' }).getByRole('link', { name: 'trace' }).waitFor()
    expect(await page.title()).to.equal('Playground · broken · Branchpoint')
    await visit.expectNoBarriers()
    await visit.close()
  })

  it('sends numbers as they are typed, and nothing before they are numbers', async () => {
    await makeApplication('typed', {
      uri: 'svc:custom:mock:v0',
      parameters: { key: 'echo' },
      schemas: {
        inputs: {
          type: 'object',
          properties: {
            amount: { type: 'number', description: 'How much of it.' },
            tags: { type: 'array' },
            name: { type: 'string' },
          },
          required: ['amount'],
        },
      },
    })
    const visit = await bench.visit({ path: '/a/typed/run' })
    const { page } = visit
    await page.getByText('How much of it.').waitFor()
    await page.getByLabel('amount (required)').fill('much')
    await page.getByText('must be a number', { exact: true }).waitFor()
    const run = page.getByRole('button', { name: /^Run v1/ })
    expect(await run.getAttribute('title')).to.equal('amount must be a number')
    await page.getByLabel('amount (required)').fill('12345678901234567890')
    await page.getByLabel('tags').fill('["a", 0.1000000000000000055]')
    await run.click()
    const output = page.getByRole('region', { name: 'Output' })
    await output.getByText('12345678901234567890').waitFor()
    await output.getByText('0.1000000000000000055').waitFor()

    await page.getByRole('button', { name: 'JSON', exact: true }).click()
    const json = page.getByRole('textbox', { name: 'Inputs as JSON' })
    await json.getByText('12345678901234567890').waitFor()
    await json.click()
    await page.keyboard.press('Control+A')
    await page.keyboard.insertText('{"amount": "a lot"}')
    await run.click()
    // The server is the judge of what the schema takes.
    await page
      .getByRole('alert')
      .getByText(/amount/)
      .waitFor()
    await visit.close()
  })

  it('holds inputs against the schema at their fields, and shows there what only the server finds wrong', async () => {
    await makeApplication('checked', {
      uri: 'svc:custom:mock:v0',
      parameters: { key: 'echo' },
      schemas: {
        inputs: {
          type: 'object',
          properties: {
            unit: { type: 'string', enum: ['kg', 't'] },
            count: { type: 'integer', minimum: 1, maximum: 9 },
            code: { type: 'string', pattern: '^[A-Z]+$' },
            sizes: { type: 'array', items: { type: 'number' } },
          },
          required: ['unit', 'count'],
        },
      },
    })
    const visit = await bench.visit({ path: '/a/checked/run' })
    const { page } = visit
    const says = (problem: string) => page.getByText(problem, { exact: true }).waitFor()
    const unit = page.getByLabel('unit (required)')
    const count = page.getByLabel('count (required)')
    await unit.fill('stone')
    await says('must be one of "kg", "t"')
    await unit.fill('kg')
    await count.fill('1.5')
    await says('must be a whole number')
    await count.fill('10')
    await says('must be from 1 to 9')
    const run = page.getByRole('button', { name: /^Run v1/ })
    expect(await run.getAttribute('title')).to.equal('count must be from 1 to 9')
    await count.fill('9')
    await page.getByLabel('sizes').fill('[1, "two"]')
    await says('1 must be a number')
    await page.getByLabel('sizes').fill('[1, 2]')
    const code = page.getByLabel('code')
    await code.fill('abc')
    await run.click()
    await page.getByRole('alert').getByText('inputs.code must match pattern').waitFor()
    await says('must match pattern "^[A-Z]+$"')
    expect(await code.getAttribute('aria-invalid')).to.equal('true')
    await visit.expectNoBarriers()
    await visit.picture('run-refused-1440')
    await code.fill('ABC')
    expect(await code.getAttribute('aria-invalid')).to.equal(null)
    await run.click()
    await page.getByRole('region', { name: 'Output' }).getByText('done').waitFor()
    await visit.close()
  })

  it('runs an evaluator on outputs that are typed, and the version that the address says', async () => {
    await bench.ask('POST', '/simple/evaluators/', {
      evaluator: {
        slug: 'exact',
        template: 'auto_exact_match',
        data: { parameters: { correct_answer_key: 'capital' } },
      },
    })
    await bench.ask('POST', '/evaluators/revisions/commit', {
      evaluator_revision_commit: {
        evaluator_variant_ref: { slug: 'exact' },
        delta: { set: { parameters: { correct_answer_key: 'city' } } },
      },
    })
    const visit = await bench.visit({ path: '/a/exact/run?variant=exact&version=1' })
    const { page } = visit
    const inputs = page.getByRole('textbox', { name: 'Inputs as JSON' })
    await inputs.click()
    await page.keyboard.press('Control+A')
    await page.keyboard.insertText('{"capital": "Oslo"}')
    await page.getByRole('textbox', { name: 'Output', exact: true }).fill('Oslo')
    await page.getByRole('button', { name: /^Run v1/ }).click()
    await page
      .getByRole('region', { name: 'Output' })
      .getByText(/"success": true/)
      .waitFor()
    await page.getByLabel('Version', { exact: true }).selectOption({ label: 'latest' })
    await page.getByRole('button', { name: /^Run v2/ }).waitFor()
    // There is one output to evaluate, so there are no fifty rows to run, whatever the address says.
    const { testset_revision: countries } = await bench.ask('POST', '/testsets/revisions/retrieve', {
      testset_ref: { slug: 'countries' },
    })
    const testcase = { id: countries.data.testcases[0].id }
    await bench.ask('POST', '/services/invoke', {
      references: { application: { slug: 'capitals' }, testcase },
      data: { inputs: { country: 'Norway' } },
    })
    const conditions = [{ field: 'references', operator: 'has', value: testcase }]
    await eventually(async () => {
      const { traces } = await bench.ask('POST', '/traces/query', { filtering: { conditions } })
      return traces.length > 0
    }, 'the trace is stored')
    await visit.go('/a/exact/run?testset=countries&grid=1')
    await page.getByText('An evaluator runs here on one row at a time').waitFor()
    await page.getByRole('textbox', { name: 'Output', exact: true }).waitFor()
    // What a prompt answered for the row need not be typed.
    await page.getByLabel('Output of a run of this row').selectOption({ index: 1 })
    const output = page.getByRole('textbox', { name: 'Output', exact: true })
    await eventually(async () => (await output.inputValue()) === 'Oslo', 'the output of the run')
    await visit.expectNoBarriers()
    expect(await page.getByRole('button', { name: 'Up to 50 rows' }).count()).to.equal(0)
    expect(await page.getByRole('region', { name: 'Table of outputs' }).count()).to.equal(0)
    await visit.close()
  })

  it('tells a key that may only read why it cannot run, and what is not there', async () => {
    const { key } = await bench.ask('POST', '/keys', { key: { name: 'reader', scopes: ['read'] } })
    const visit = await bench.visit({ path: '/a/capitals/run', key: key.secret })
    const { page } = visit
    await page.getByRole('button', { name: /^Run v1 ?: The key "reader" lacks the scope invoke/ }).waitFor()
    await visit.go('/a/nothing-here/run')
    await page
      .getByRole('alert')
      .getByText(/nothing-here/)
      .waitFor()
    await visit.close()
  })
})
