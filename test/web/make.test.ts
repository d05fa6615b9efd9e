import { expect } from 'chai'
import { closeBrowser } from '../support/browser/open-browser.ts'
import { type HoldingHook, startHoldingHook } from './support/holding-hook.ts'
import { keysOf } from './support/keys.ts'
import { openWorkbench, type Workbench } from './support/workbench.ts'

describe('workbench: making things', () => {
  let bench: Workbench
  let hook: HoldingHook
  before(async () => {
    hook = await startHoldingHook()
    bench = await openWorkbench({ HOOK_ALLOW_PRIVATE: 'true' })
    await bench.ask('POST', '/simple/applications/', {
      application: { slug: 'capitals', name: 'Capitals', data: {} },
    })
  })
  after(async () => {
    await closeBrowser()
    await bench.close()
    await hook.close()
  })

  it('makes a prompt by keys alone: name first, an ID that is checked, a template, and nothing on the server until it is saved', async () => {
    const visit = await bench.visit({ path: '/?kind=applications' })
    const { page } = visit
    await page.getByRole('link', { name: 'Capitals' }).waitFor()
    await page.keyboard.press('n')
    const dialog = page.getByRole('dialog', { name: 'New prompt' })
    const id = dialog.getByLabel('ID')
    await dialog.getByRole('radio', { name: /^Single answer/ }).waitFor()
    await page.keyboard.type('Capitals!')
    await dialog.getByText('“capitals” is taken already.', { exact: true }).waitFor()
    expect(await id.getAttribute('aria-invalid')).to.equal('true')
    await page.keyboard.press('Tab')
    await page.keyboard.type('a b')
    await dialog.getByText('An ID has only letters').first().waitFor()
    await visit.expectNoBarriers()
    await page.keyboard.press('Control+a')
    await page.keyboard.type('rivers')
    await page.keyboard.press('Tab')
    await page.keyboard.press('ArrowDown')
    await dialog.getByRole('region', { name: 'What “Conversation” holds' }).waitFor()
    await visit.picture('new-prompt-1440')
    await page.keyboard.press('Enter')
    await page.waitForURL('**/a/rivers/edit/rivers')
    await page.getByText('not saved yet').waitFor()
    const path = page.getByRole('navigation', { name: 'Where you are' }).getByRole('link')
    expect(await path.allInnerTexts(), 'it has no page yet').to.deep.equal(['Prompts'])
    const { count } = await bench.ask('POST', '/workflows/query', { workflow: { slugs: ['rivers'] } })
    expect(count, 'nothing empty is left behind').to.equal(0)

    // It is found again, also after the page was left.
    await visit.go('/')
    await page
      .getByRole('region', { name: 'Not saved yet' })
      .getByRole('link', { name: 'Capitals!' })
      .press('Enter')
    await page.getByText('not saved yet').waitFor()
    const model = page.getByRole('combobox', { name: 'Model', exact: true })
    await model.fill('mock/echo')
    await model.press('Control+s')
    await page.getByRole('dialog', { name: 'Save version' }).waitFor()
    await page.keyboard.press('Control+Enter')
    await page.waitForURL('**/a/rivers/v/rivers/1')
    const { application } = await bench.ask('GET', '/simple/applications/rivers')
    expect(application).to.include({ name: 'Capitals!' })
    expect(application['data']).to.deep.include({ uri: 'svc:builtin:chat:v0' })
    expect(application['data'].parameters.prompt.llm_config.model).to.equal('mock/echo')
    await visit.go('/')
    await page.getByRole('heading', { name: 'Latest changes' }).waitFor()
    expect(await page.getByText('Not saved yet').count()).to.equal(0)
    await visit.close()
  })

  it('keeps a draft whose ID was taken meanwhile, and makes a workflow of JSON, a query and a testset at once', async () => {
    const visit = await bench.visit({ path: '/?make=applications' })
    const { page } = visit
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('radio', { name: /^Single answer/ }).waitFor()
    await dialog.getByLabel('Name').fill('Lakes')
    await page.getByRole('button', { name: 'Open the editor' }).click()
    await page.getByText('not saved yet').waitFor()
    await bench.ask('POST', '/simple/testsets/', { testset: { slug: 'other', data: { testcases: [] } } })
    await bench.ask('POST', '/simple/applications/', {
      application: { slug: 'lakes', name: 'Lakes of others' },
    })
    await page.getByRole('button', { name: 'Save version' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Save version' }).click()
    const other = page.getByRole('dialog').getByLabel('ID')
    await other.waitFor()
    expect(await other.getAttribute('aria-invalid')).to.equal('true')
    await other.fill('lakes-2')
    await other.press('Enter')
    await page.waitForURL('**/a/lakes-2/v/lakes-2/1')

    await visit.go('/?make=workflows')
    await dialog.getByLabel('Name').fill('Shared tone')
    await dialog.getByLabel('Content as JSON').fill('{"parameters": {"tone": "warm"')
    await dialog.getByText('This is not JSON yet').first().waitFor()
    const make = dialog.getByRole('button', { name: /^Create shared-tone/ })
    expect(await make.getAttribute('aria-disabled')).to.equal('true')
    await visit.expectNoBarriers()
    await dialog.getByLabel('Content as JSON').fill('{"parameters": {"tone": "warm", "size": 1.0}}')
    await make.click()
    await page.waitForURL('**/a/shared-tone')
    const { workflow } = await bench.ask('GET', '/simple/workflows/shared-tone')
    expect(workflow['data'].parameters).to.deep.equal({ tone: 'warm', size: 1 })
    // It is neither prompt nor evaluator, so it is in the last list.
    await visit.go('/?kind=workflows')
    await page.getByText('1 workflow', { exact: true }).waitFor()

    await visit.go('/?make=queries')
    await dialog.getByLabel('Name').fill('Errors of today')
    await dialog.getByRole('button', { name: 'Create errors-of-today' }).click()
    await page.waitForURL('**/q/errors-of-today')
    await page.getByRole('heading', { level: 1 }).waitFor()
    await visit.close()
  })

  it('makes an evaluator by the form of its schema, and tries it on an output', async () => {
    const visit = await bench.visit({ path: '/?make=evaluators' })
    const { page } = visit
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('radio', { name: /^Regex Test/ }).check()
    await dialog
      .getByRole('region', { name: 'What “Regex Test” holds' })
      .getByText('Pattern', { exact: true })
      .waitFor()
    await dialog.getByLabel('Name').fill('Names a page')
    await dialog.getByRole('button', { name: 'Open the editor' }).click()
    await page.waitForURL('**/a/names-a-page/edit/names-a-page')
    const form = page.getByRole('region', { name: 'Settings' })
    const pattern = form.getByLabel('Pattern', { exact: true })
    await pattern.fill('page (')
    await form.getByText('is no regular expression yet').waitFor()
    expect(await pattern.getAttribute('aria-invalid')).to.equal('true')
    await pattern.fill('page \\d+')
    expect(await form.getByLabel('Pass when the pattern is found').isChecked()).to.equal(true)
    await visit.expectNoBarriers()

    // The verdict of the draft, before anything is stored.
    const pane = page.getByRole('region', { name: 'Try' })
    await pane.getByRole('textbox', { name: 'Output', exact: true }).fill('See the manual, page 4.')
    await page.keyboard.press('Control+Enter')
    await pane.getByText('success').waitFor()
    await pane.getByText('passed').waitFor()
    await visit.picture('evaluator-form-1440')
    await page.getByRole('button', { name: 'Save version' }).click()
    await dialog.getByRole('button', { name: 'Save version' }).click()
    await page.waitForURL('**/a/names-a-page/v/names-a-page/1')
    const { evaluator } = await bench.ask('GET', '/simple/evaluators/names-a-page')
    expect(evaluator['data'].parameters).to.deep.equal({
      regex_pattern: 'page \\d+',
      regex_should_match: true,
    })
    expect(evaluator['flags']).to.include({ is_evaluator: true, is_application: false })
    await visit.close()
  })

  it('makes a code evaluator: each field explained, coloured in the language that was chosen, and tried', async () => {
    const visit = await bench.visit({ path: '/?make=evaluators' })
    const { page } = visit
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('radio', { name: /^Code Evaluation/ }).check()
    await dialog.getByLabel('Name').fill('Is short')
    await dialog.getByRole('button', { name: 'Open the editor' }).click()
    const form = page.getByRole('region', { name: 'Settings' })
    const source = form.getByRole('textbox', { name: 'Source' })
    const language = form.getByLabel('Language')
    // Keywords have a colour of their own.
    const isColoured = (word: string, others: string) =>
      source
        .locator('span[class]', { hasText: new RegExp(`^${word}$`) })
        .first()
        .waitFor()
        .then(async () => expect(await source.textContent()).to.include(others))
    await isColoured('def', 'evaluate(inputs, outputs, trace):')
    for (const [field, hint] of [
      [source, /^Defines evaluate\(inputs, outputs, trace\)/],
      [language, /^The language of the source/],
    ] as const)
      expect(
        await field.evaluate(
          (it: any) => it.ownerDocument.getElementById(it.getAttribute('aria-describedby')).textContent,
        ),
      ).to.match(hint)
    await language.selectOption('javascript')
    const code = 'function evaluate(inputs, outputs) { return outputs.length < 9 }'
    await source.press('Control+a')
    await source.press('Delete')
    await page.keyboard.insertText(code)
    await isColoured('function', 'return outputs.length')
    await visit.expectNoBarriers()
    const pane = page.getByRole('region', { name: 'Try' })
    await pane.getByRole('textbox', { name: 'Output', exact: true }).fill('Suva')
    await page.keyboard.press('Control+Enter')
    await pane.getByText('passed').waitFor()
    await page.keyboard.press('Control+s')
    await dialog.getByRole('button', { name: 'Save version' }).click()
    await page.waitForURL('**/a/is-short/v/is-short/1')
    const { evaluator } = await bench.ask('GET', '/simple/evaluators/is-short')
    expect(evaluator['data'].parameters).to.deep.equal({ runtime: 'javascript', version: '3', code })
    await visit.close()
  })

  it('lists model, versions and tags, and works on the selected ones by keys: tag, move, rename, archive, and found again', async () => {
    const data = {
      uri: 'svc:builtin:completion:v0',
      parameters: { prompt: { messages: [], llm_config: { model: 'mock/echo' } } },
    }
    for (const slug of ['alpha', 'beta', 'gamma'])
      await bench.ask('POST', '/simple/applications/', {
        application: { slug, name: `A ${slug}`, data },
      })
    await bench.ask('POST', '/applications/revisions/deploy', {
      application_ref: { slug: 'beta' },
      environment_ref: { slug: 'production' },
    })
    const visit = await bench.visit({ path: '/?kind=applications&sort=name' })
    const { page } = visit
    const list = page.getByRole('region', { name: 'Prompts' })
    const row = (name: string) => list.getByRole('listitem').filter({ hasText: name })
    await row('beta').getByText('mock/echo').waitFor()
    await row('beta').getByText('production v1').waitFor()
    await list.focus()
    for (const key of ['j', 'Space']) await page.keyboard.press(key)
    // Keys go on after a click on a box.
    await row('beta').getByRole('checkbox').click()
    await page.getByText('2 prompts selected').waitFor()
    await visit.expectNoBarriers()
    await page.keyboard.press('t')
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Tag', { exact: true }).fill('team')
    await dialog.getByLabel('Value').fill('support')
    await visit.picture('list-selection-1440')
    await page.keyboard.press('Enter')
    await row('alpha').getByRole('button', { name: 'team: support' }).click()
    await page.waitForURL('**tag=team%3Asupport**')
    await page.getByText('2 prompts', { exact: true }).waitFor()
    await page.getByRole('button', { name: /^tag team:support/ }).click()
    await page.getByLabel('Deployed to').selectOption('production')
    await page.getByText('1 prompt', { exact: true }).waitFor()
    await page.getByLabel('Select A beta').check()
    await page.getByRole('button', { name: 'Move …' }).click()
    await dialog.getByLabel('Folder').fill('support/tier-1')
    await dialog.getByRole('button', { name: 'Move to support/tier-1' }).click()
    await page.getByRole('navigation', { name: 'Folders' }).getByRole('link', { name: 'support' }).waitFor()
    await page.getByLabel('Select A beta').check()
    await page.getByRole('button', { name: 'Rename …' }).click()
    await dialog.getByLabel('Name').fill('Beta, renamed')
    await page.keyboard.press('Enter')
    await dialog.waitFor({ state: 'detached' })
    // Archived and found again with keys alone.
    const keys = await keysOf(page)
    await keys.press(page.getByLabel('Select Beta, renamed'), 'Space')
    await page.keyboard.press('a')
    await keys.press(dialog.getByRole('button', { name: 'Archive 1 prompt' }))
    await page.getByText('0 prompts', { exact: true }).waitFor()
    await keys.press(page.getByLabel('Show archived'), 'Space')
    await row('Beta, renamed').getByText('archived').waitFor()
    const { application } = await bench.ask('GET', '/simple/applications/beta')
    expect(application).to.deep.include({ folder: 'support/tier-1', tags: { team: 'support' } })
    await keys.press(row('Beta, renamed').getByRole('button', { name: /^Bring back/ }))
    await row('Beta, renamed').getByText('archived').waitFor({ state: 'detached' })
    await keys.press(page.getByLabel('Show archived'), 'Space')
    await row('Beta, renamed').waitFor()
    await keys.expectNoMouse()

    // Several are evaluated: the dialog closes while the evaluations still run.
    await bench.ask('POST', '/simple/applications/', {
      application: { slug: 'held', name: 'A held one', data: { uri: 'svc:custom:hook:v0', url: hook.url } },
    })
    await bench.ask('POST', '/simple/evaluators/', {
      evaluator: { slug: 'any-word', data: { uri: 'svc:builtin:auto_exact_match:v0' } },
    })
    await bench.ask('POST', '/simple/testsets/', {
      testset: { slug: 'numbers', data: { testcases: [{ data: { n: 1 } }, { data: { n: 2 } }] } },
    })
    await visit.go('/?kind=applications&sort=name')
    for (const name of ['A alpha', 'A held one']) await page.getByLabel(`Select ${name}`).check()
    await page.keyboard.press('v')
    await dialog.getByRole('combobox', { name: 'Testset' }).fill('numbers')
    await dialog.getByRole('option', { name: 'numbers' }).click()
    await dialog.getByRole('combobox', { name: 'Evaluator' }).fill('any-word')
    await dialog.getByRole('option', { name: 'any-word' }).click()
    await dialog.getByRole('button', { name: 'Start 2 evaluations' }).click()
    await page.waitForURL('**/eval')
    await dialog.waitFor({ state: 'detached' })
    await page.getByRole('row', { name: /running held v1 numbers v1 1 of 2/ }).waitFor()
    hook.release()
    await page.getByRole('row', { name: /finished held v1 numbers v1 2/ }).waitFor()
    await visit.close()
  })

  it('tells a key that may only read which scope making needs, in the button and in the palette', async () => {
    const { key } = await bench.ask('POST', '/keys/', { key: { name: 'reader', scopes: ['read'] } })
    const visit = await bench.visit({ path: '/?kind=evaluators', key: key.secret })
    const { page } = visit
    const button = page.getByRole('button', { name: /New evaluator/ })
    await button.waitFor()
    expect(await button.getAttribute('title')).to.match(/"reader" lacks the scope write/)
    await page.keyboard.press('n')
    await page.keyboard.press('Control+k')
    await page.getByLabel('Command or words to search for').fill('new evaluator')
    const option = page.getByRole('option', { name: /New evaluator.*lacks the scope write/ }).first()
    await option.waitFor()
    expect(await option.getAttribute('aria-disabled')).to.equal('true')
    await visit.close()
  })
})
