import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { expect } from 'chai'
import { eventually } from '../http/environments/environment-client.ts'
import { closeBrowser } from '../support/browser/open-browser.ts'
import { nodeFs } from '../../src/storage/files/node-fs.ts'
import { OpenTraces } from '../../src/feeds/traces/open-traces.ts'
import type { Span } from '../../src/feeds/traces/span.ts'
import { makeSpan } from '../support/values/make-span.ts'
import { keysOf } from './support/keys.ts'
import { openWorkbench, type Workbench } from './support/workbench.ts'

/** What models may say: nothing of it may be more than text. */
const HOSTILE = `<script>document.title = 'taken'</script><img src="http://127.0.0.1:1/x.png"> [a](javascript:alert(1)) \u202Egnp.exe`

describe('workbench: traces', () => {
  let bench: Workbench
  before(async () => {
    bench = await openWorkbench()
    await bench.ask('POST', '/simple/applications/', {
      application: { slug: 'echo', data: prompt('{{say}}') },
    })
    await bench.ask('POST', '/simple/applications/', {
      application: { slug: 'failing', data: prompt('{{nothing}}') },
    })
  })
  after(async () => {
    await closeBrowser()
    await bench.close()
  })

  /** A prompt over the model that says the last message again. */
  const prompt = (content: string) => ({
    uri: 'svc:builtin:completion:v0',
    parameters: {
      prompt: {
        messages: [
          { role: 'system', content: 'Say it again.' },
          { role: 'user', content },
        ],
        llm_config: { model: 'mock/examples' },
        template_format: 'curly',
      },
    },
  })
  const say = async (text: string): Promise<string> => {
    const { trace_id: id } = await bench.ask('POST', '/services/invoke', {
      references: { application: { slug: 'echo' } },
      data: { inputs: { say: text } },
    })
    return id
  }
  /** Runs what fails; the answer is an error, and the trace is kept. */
  const fail = () =>
    bench
      .ask('POST', '/services/invoke', {
        references: { application: { slug: 'failing' } },
        data: { inputs: { say: 'anything' } },
      })
      .then(
        () => expect.fail('it did not fail'),
        () => undefined,
      )

  it('says what traces are where there are none, and tells of new ones by a line', async () => {
    const visit = await bench.visit({ path: '/trace' })
    const { page } = visit
    await page.getByText('No traces yet').waitFor()
    await visit.expectNoBarriers()
    await say('hello world')
    await page.getByText('New traces').waitFor()
    await page.getByRole('button', { name: 'show' }).click()
    await page.getByRole('row', { name: /echo v1 say: hello world hello world .* 7 / }).waitFor()
    await visit.close()
  })

  it('narrows the list by text, status, prompt and duration; all of it stands in the address', async () => {
    await say('a pear')
    await fail()
    const visit = await bench.visit({ path: '/trace' })
    const { page } = visit
    const rows = page.getByRole('table', { name: 'Traces' }).getByRole('row')
    await rows.nth(3).waitFor()
    expect(await rows.nth(1).textContent(), 'the newest comes first').to.include('failing')
    await visit.expectNoBarriers()
    await visit.picture('traces-1440')
    await page.getByLabel('Search text').fill('pear')
    await page.keyboard.press('Enter')
    await page.waitForURL('**/trace?text=pear')
    await rows.getByText('hello world').first().waitFor({ state: 'detached' })
    await rows.nth(1).waitFor()
    expect(await rows.count()).to.equal(2)
    await page.getByRole('link', { name: 'Show all' }).click()
    await page.getByLabel('Status').selectOption('errors')
    await page.waitForURL('**/trace?status=error')
    await rows.getByText('hello world').first().waitFor({ state: 'detached' })
    await rows.getByText('Unreplaced variables').waitFor()
    await page.getByRole('combobox', { name: 'Prompt' }).fill('ech')
    await page.getByRole('option', { name: 'echo' }).click()
    await page.waitForURL('**status=error&artifact=echo')
    await page.getByText('No traces match').waitFor()
    await visit.expectNoBarriers()
    await page.getByRole('button', { name: 'Show all traces' }).click()
    await page.getByLabel('Minimum duration').fill('soon')
    await page.getByText('Milliseconds, such as 1500.').waitFor()
    await page.getByLabel('Minimum duration').fill('3600000')
    await page.keyboard.press('Enter')
    await page.waitForURL('**slower=3600000')
    await page.getByText('No traces match').waitFor()
    await page.goBack()
    await rows.nth(3).waitFor()
    expect(await page.getByLabel('Minimum duration').inputValue(), 'what the address does not say').to.equal(
      '',
    )
    await page.getByRole('heading', { name: 'Traces' }).click()
    for (const key of ['j', 'j', 'Enter']) await page.keyboard.press(key)
    await page.waitForURL('**/trace/*')
    await page.getByRole('tree', { name: 'Spans' }).waitFor()
    await visit.close()
  })

  it('shows the spans as a tree for keys, the picked one as a conversation, and all of it as JSON', async () => {
    const id = await say('good morning')
    const visit = await bench.visit({ path: `/trace/${id}` })
    const { page } = visit
    const panel = page.getByRole('region', { name: 'The picked span' })
    await panel.getByRole('heading', { name: 'echo v1' }).waitFor()
    await panel.getByText(/7 tokens \(5 in, 2 out\)/).waitFor()
    await visit.expectNoBarriers()
    const tree = page.getByRole('tree', { name: 'Spans' })
    await tree.focus()
    await page.keyboard.press('ArrowDown')
    await panel.getByRole('heading', { name: 'chat' }).waitFor()
    for (const [role, text] of [
      ['system', 'Say it again.'],
      ['user', 'good morning'],
      ['assistant', 'good morning'],
    ] as const)
      await panel.getByRole('listitem').filter({ hasText: role }).getByText(text).waitFor()
    await visit.expectNoBarriers()
    await visit.picture('trace-1440')
    await page.keyboard.press('ArrowLeft')
    await page.keyboard.press('ArrowLeft')
    await tree.getByRole('treeitem', { name: /chat/ }).waitFor({ state: 'detached' })
    await page.keyboard.press('ArrowRight')
    await tree.getByRole('treeitem', { name: /chat/ }).waitFor()
    await page.keyboard.press('j')
    await panel.getByRole('link', { name: 'JSON' }).click()
    await page.waitForURL(/span=[0-9a-f]{16}&view=json/)
    await panel.getByText('gen_ai').waitFor()
    await visit.expectNoBarriers()
    await page.reload()
    await panel.getByText('gen_ai').waitFor()
    await visit.close()
  })

  it('leads to the revision that ran, to runs with this input, and to the same prompt before', async () => {
    const first = await say('one')
    const second = await say('two')
    const visit = await bench.visit({ path: `/trace/${second}` })
    const { page } = visit
    await page.getByRole('button', { name: 'More' }).click()
    await page.getByRole('menuitem', { name: 'Earlier traces of this prompt' }).click()
    await page.waitForURL('**/trace?artifact=echo&before=*')
    const rows = page.getByRole('table', { name: 'Traces' }).getByRole('row')
    await rows.nth(1).waitFor()
    expect(await rows.nth(1).textContent()).to.include('one')
    expect(await rows.nth(1).getByRole('link').first().getAttribute('href')).to.equal(`/trace/${first}`)
    await page.goBack()
    expect(await page.getByRole('link', { name: 'Open in playground' }).getAttribute('href')).to.equal(
      `/a/echo/run?left=r%3Aecho-1&trace=${second}`,
    )
    await page.getByRole('region', { name: 'The picked span' }).getByRole('link', { name: 'v1' }).click()
    await page.waitForURL('**/a/echo/r/echo-1')
    await page.goBack()
    await page.getByRole('link', { name: 'Open in playground' }).click()
    await page.getByRole('region', { name: /: echo v1$/ }).waitFor()
    await eventually(async () => (await page.getByLabel('say').inputValue()) === 'two', 'the inputs')
    await visit.close()
  })

  it('reads a chat as messages, leaves drafts out until they are asked for, and finds the traces of a version', async () => {
    const data = { ...prompt('{{say}}'), uri: 'svc:builtin:chat:v0' }
    await bench.ask('POST', '/simple/applications/', { application: { slug: 'chatter', data } })
    await bench.ask('POST', '/services/invoke', {
      references: { application: { slug: 'chatter' } },
      data: { inputs: { say: 'x', messages: [{ role: 'user', content: 'My parcel is lost.' }] } },
    })
    await bench.ask('POST', '/services/invoke', {
      references: { application: { slug: 'echo' } },
      data: { parameters: prompt('Draft: {{say}}').parameters, inputs: { say: 'not yet' } },
    })
    const visit = await bench.visit({ path: '/trace' })
    const { page } = visit
    const table = page.getByRole('table', { name: 'Traces' })
    await table
      .getByRole('row', { name: /chatter v1 My parcel is lost\. · say: x My parcel is lost\./ })
      .waitFor()
    expect(await table.getByText('not yet').count()).to.equal(0)
    await page.getByLabel('Show drafts').check()
    await page.waitForURL('**/trace?drafts=1')
    await table
      .getByRole('row', { name: /echo, a draft say: not yet Draft: not yet/ })
      .getByRole('link')
      .click()
    await page.getByRole('heading', { name: 'echo, a draft', level: 1 }).waitFor()
    await visit.expectNoBarriers()
    await visit.go('/trace?artifact=echo')
    await table.getByRole('link', { name: 'echo v1' }).first().click()
    await page.getByRole('button', { name: 'More' }).click()
    await page.getByRole('menuitem', { name: 'Traces of echo v1' }).click()
    await page.waitForURL('**/trace?revision=echo-1')
    await page.getByText('Only of the version').waitFor()
    await table.getByText('hello world').first().waitFor()
    expect(await table.getByText('My parcel is lost.').count()).to.equal(0)
    await visit.close()
  })

  it('keeps a trace as a row, by keys: shows which value goes where, and the row, before it is saved', async () => {
    await bench.ask('POST', '/simple/testsets/', {
      testset: { slug: 'sayings', data: { testcases: [{ data: { say: 'Hi', expected_answer: 'Hi' } }] } },
    })
    const id = await say('Good evening')
    const visit = await bench.visit({ path: `/trace/${id}` })
    const { page } = visit
    const keys = await keysOf(page)
    await page.getByRole('tree', { name: 'Spans' }).waitFor()
    await page.keyboard.press('a')
    const dialog = page.getByRole('dialog', { name: 'Add to a testset' })
    await dialog.getByRole('button', { name: /Choose a testset first/ }).waitFor()
    await page.keyboard.type('sayi')
    await dialog.getByRole('option', { name: 'sayings' }).waitFor()
    await page.keyboard.press('Enter')
    const row = dialog.getByRole('region', { name: 'The row as it will be' })
    await row.getByText('expected_answer').waitFor()
    await keys.type(dialog.getByLabel('Expected answer', { exact: true }), 'Good evening to you')
    await row.getByText('Good evening to you').waitFor()
    await visit.expectNoBarriers()
    await visit.picture('trace-add-1440')
    await keys.tabTo(dialog.getByLabel('Output', { exact: true }))
    await page.keyboard.press('ArrowUp')
    await dialog.getByRole('button', { name: /Two values go to the column “say”/ }).waitFor()
    await page.keyboard.press('ArrowDown')
    await dialog.getByRole('button', { name: /Two values go/ }).waitFor({ state: 'detached' })
    await keys.press(dialog.getByRole('button', { name: 'Save version' }))
    await page.getByRole('status').getByText('Row added: sayings is at v2.').waitFor()
    const { testset_revision: head } = await bench.ask('POST', '/testsets/revisions/retrieve', {
      testset_ref: { slug: 'sayings' },
    })
    const { testcase_dedup_id: _, ...added } = head.data.testcases[1].data
    expect(added).to.deep.equal({ say: 'Good evening', expected_answer: 'Good evening to you' })
    expect(head.message).to.equal('Keep a trace of echo v1 as a row')
    await keys.press(page.getByRole('link', { name: 'sayings' }))
    await page.waitForURL('**/t/sayings')
    await keys.expectNoMouse()
    await visit.close()
  })

  it('takes a thumb and a note, which are a column and a filter, and takes them back', async () => {
    const [good, bad] = [await say('well said'), await say('badly said')]
    await bench.ask('POST', '/annotations/', {
      annotation: { trace_id: bad, data: { outputs: { approved: false, comment: HOSTILE } } },
    })
    const { key } = await bench.ask('POST', '/keys/', {
      key: { name: 'judge', scopes: ['read', 'annotate'] },
    })
    const visit = await bench.visit({ path: `/trace/${good}`, key: key.secret })
    const { page } = visit
    const feedback = page.getByRole('region', { name: 'Feedback' })
    await feedback.getByRole('button', { name: 'Approve' }).waitFor()
    await page.keyboard.press('+')
    await feedback.getByRole('status').getByText('approved').waitFor()
    await feedback.getByRole('button', { name: 'Approve', pressed: true }).waitFor()
    await page.keyboard.press('m')
    await page.getByRole('dialog', { name: 'Note on this trace' }).getByLabel('Note').fill('As we would')
    await visit.expectNoBarriers()
    await page.keyboard.press('Control+Enter')
    await feedback.getByText('As we would').waitFor()
    expect(await feedback.getByRole('listitem').count(), 'the note joins the thumb').to.equal(1)
    await visit.expectNoBarriers()
    await visit.picture('trace-feedback-1440')
    await visit.go('/trace')
    const table = page.getByRole('table', { name: 'Traces' })
    await table.getByRole('row', { name: /echo v1 say: well said .* approved As we would/ }).waitFor()
    await table.getByRole('row', { name: /echo v1 say: badly said .* rejected <script>/ }).waitFor()
    expect(await table.getByText('annotation').count(), 'what people say is no row of its own').to.equal(0)
    await visit.expectNoBarriers()
    await page.getByLabel('Feedback').selectOption('approved')
    await page.waitForURL('**/trace?approved=true')
    await table.getByText('badly said').first().waitFor({ state: 'detached' })
    await table.getByText('well said').first().waitFor()
    expect(await table.getByRole('row').count()).to.equal(2)
    await table.getByRole('link', { name: 'echo v1' }).click()
    await feedback.getByRole('button', { name: 'Approve', pressed: true }).click()
    await feedback.getByRole('button', { name: 'Approve', pressed: false }).waitFor()
    expect(await feedback.getByRole('listitem').count()).to.equal(0)
    await page.goBack()
    await page.getByText('No traces match').waitFor()
    await visit.close()
    const { annotations } = await bench.ask('POST', '/annotations/query', {})
    expect(annotations.map((it: any) => it.trace_id)).to.deep.equal([bad])
    const { key: reading } = await bench.ask('POST', '/keys/', { key: { name: 'reader', scopes: ['read'] } })
    const reader = await bench.visit({ path: `/trace/${bad}`, key: reading.secret })
    await reader.page.getByText('<script>').first().waitFor()
    await reader.page.getByRole('button', { name: /Approve.*lacks the scope annotate/ }).waitFor()
    await reader.close()
  })

  it('shows hostile outputs as text, and folds a line of a megabyte', async () => {
    const hostile = await say(HOSTILE)
    const long = await say('x'.repeat(1_000_000))
    const visit = await bench.visit({ path: '/trace' })
    const { page } = visit
    await page.getByRole('table', { name: 'Traces' }).getByText('<script>').first().waitFor()
    await visit.expectNoBarriers()
    await visit.go(`/trace/${hostile}`)
    const panel = page.getByRole('region', { name: 'The picked span' })
    await panel.getByText('<script>').first().waitFor()
    await visit.go(`/trace/${long}`)
    await panel.getByRole('button', { name: 'show all 1,000,000 characters' }).first().waitFor()
    await panel.getByRole('link', { name: 'JSON' }).click()
    await panel.getByText('svc:').waitFor()
    expect(await page.title()).to.equal('echo v1 · Traces · Branchpoint')
    await visit.close()
  })

  it('says why a run failed, and where nothing is at an address', async () => {
    await fail()
    const { traces } = await bench.ask('POST', '/traces/query', { windowing: { limit: 1 } })
    const visit = await bench.visit({ path: `/trace/${traces[0].trace_id}` })
    const { page } = visit
    await page.getByText('! failed').waitFor()
    await page.getByRole('group', { name: 'Why it failed' }).getByText('Unreplaced variables').waitFor()
    await visit.expectNoBarriers()
    await visit.go(`/trace/${'e'.repeat(32)}`)
    await page.getByRole('alert').getByText('There is no trace with the id').waitFor()
    await visit.close()
  })

  it('draws of five thousand spans only those that are seen', async () => {
    const root = makeSpan({ startTime: Date.now() - 60_000, name: 'agent' })
    const spans = Array.from({ length: 4999 }, (_, at): Span => {
      const startTime = root.startTime + 10 + at * 10
      return makeSpan({
        traceId: root.traceId,
        spanId: randomBytes(8).toString('hex'),
        parentId: root.spanId,
        name: `step ${at}`,
        startTime,
        endTime: startTime + 8,
        statusCode: at === 4998 ? 'STATUS_CODE_ERROR' : 'STATUS_CODE_OK',
        statusMessage: at === 4998 ? 'The last step failed.' : undefined,
      })
    })
    await record([root, ...spans])
    const visit = await bench.visit({ path: `/trace/${root.traceId}` })
    const { page } = visit
    await page.getByText('5,000 spans').waitFor()
    await page.getByText('! 1 error').waitFor()
    const items = page.getByRole('tree', { name: 'Spans' }).getByRole('treeitem')
    expect(await items.count()).to.be.below(100)
    await page.getByRole('tree', { name: 'Spans' }).focus()
    await page.keyboard.press('End')
    await page.getByRole('group', { name: 'Why it failed' }).getByText('The last step failed.').waitFor()
    await items.getByText('step 4998').waitFor()
    expect(await items.count()).to.be.below(100)
    await visit.expectNoBarriers()
    await visit.go('/trace')
    await page.getByRole('row', { name: /agent/ }).waitFor()
    await visit.close()
  })

  /** Spans as a handler leaves them. */
  async function record(spans: readonly Span[]): Promise<void> {
    const open = new OpenTraces({
      isRecording: true,
      retention: { maxAgeDays: 30, maxBytes: 1024 ** 3 },
      queryMs: 5000,
      now: () => new Date(),
      onTrouble: ({ message }) => expect.fail(message),
    })
    const traces = open.of({ store: { folder: join(bench.storeDir, 'default'), fs: nodeFs } })
    traces.record(spans)
    await traces.stored()
    await open.close()
  }

  it('removes a trace after a question, for whoever may write', async () => {
    const id = await say('forget this')
    const { key } = await bench.ask('POST', '/keys/', { key: { name: 'reader', scopes: ['read'] } })
    const reader = await bench.visit({ path: `/trace/${id}`, key: key.secret })
    await reader.page
      .getByRole('button', { name: /Add to testset.*lacks the scope write/ })
      .click({ force: true })
    expect(await reader.page.getByRole('dialog').count()).to.equal(0)
    await reader.page.getByRole('button', { name: 'More' }).click()
    const off = reader.page.getByRole('menuitem', { name: 'Delete' })
    expect(await off.getAttribute('aria-disabled')).to.equal('true')
    expect(await off.getAttribute('title')).to.include('lacks the scope write')
    await reader.close()
    const visit = await bench.visit({ path: `/trace/${id}` })
    const { page } = visit
    const remove = async (): Promise<void> => {
      await page.getByRole('button', { name: 'More' }).click()
      await page.getByRole('menuitem', { name: 'Delete' }).click()
    }
    await remove()
    const dialog = page.getByRole('dialog', { name: 'Delete this trace?' })
    await visit.expectNoBarriers()
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
    await remove()
    await dialog.getByRole('button', { name: 'Delete the trace for good' }).click()
    await page.waitForURL('**/trace')
    await page.getByRole('table', { name: 'Traces' }).waitFor()
    await page.getByText('forget this').first().waitFor({ state: 'detached' })
    await visit.go(`/trace/${id}`)
    await page.getByRole('alert').getByText('There is no trace with the id').waitFor()
    await visit.close()
  })

  it('fits a telephone', async () => {
    const id = await say('good night')
    for (const [name, path] of [
      ['traces', '/trace'],
      ['trace', `/trace/${id}`],
    ] as const) {
      const visit = await bench.visit({ path, width: 390, height: 844 })
      await visit.page.getByText('good night').first().waitFor()
      expect(await visit.page.evaluate('document.documentElement.scrollWidth'), path).to.be.at.most(390)
      await visit.expectNoBarriers()
      await visit.picture(`${name}-390`)
      await visit.close()
    }
  })
})
