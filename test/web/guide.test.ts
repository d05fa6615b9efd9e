import { readFileSync } from 'node:fs'
import { expect } from 'chai'
import { closeBrowser } from '../support/browser/open-browser.ts'
import { keysOf } from './support/keys.ts'
import { openWorkbench, type Workbench } from './support/workbench.ts'

/** The sections of the guide that the day goes through, each with its text. */
const SECTIONS = new Map(
  readFileSync('docs/guide/workbench.md', 'utf8')
    .split(/^## /m)
    .map((text) => [text.slice(0, text.indexOf('\n')), text] as const),
)

/** A name as the guide's section prints it: in italics, or in bold where the section begins. */
function said(section: string, name: string): string {
  const text = SECTIONS.get(section) ?? ''
  expect(text.includes(`_${name}_`) || text.includes(`**${name}**`), `${section} says ${name}`).to.equal(true)
  return name
}

describe('workbench: the guide “Without a terminal”', () => {
  let bench: Workbench
  before(async () => {
    bench = await openWorkbench()
    await bench.ask('POST', '/simple/evaluators/', {
      evaluator: {
        slug: 'exact',
        template: 'auto_exact_match',
        data: { parameters: { correct_answer_key: 'answer' } },
      },
    })
  })
  after(async () => {
    await closeBrowser()
    await bench.close()
  })

  it('is a day by its six steps and its names, with keys alone', async () => {
    const visit = await bench.visit({ path: '/?kind=applications' })
    const { page } = visit
    const { keyboard } = page
    const keys = await keysOf(page)
    const button = (name: string) => page.getByRole('button', { name, exact: true })
    const dialog = (name: string | RegExp) => page.getByRole('dialog', { name })

    // 1. Write a prompt.
    const making = (name: string): string => said('Making things', name)
    await keys.press(button(making('New prompt')))
    await dialog('New prompt')
      .getByRole('radio', { name: /^Single answer/ })
      .waitFor()
    await keyboard.type('Greetings')
    await keys.press(button(making('Open the editor')))
    await page.waitForURL('**/a/greetings/edit/greetings')
    await keys.type(
      page.getByRole('textbox', { name: /^Text of message 1/ }),
      'You greet people by their names.',
    )
    await keys.type(page.getByRole('textbox', { name: /^Text of message 2/ }), 'Hello {{name}}')
    await keys.type(page.getByRole('combobox', { name: 'Model', exact: true }), 'mock/examples')

    // 2. Try it before you save it.
    const trying = (name: string): string => said('Trying a draft', name)
    const output = page.getByRole('region', { name: 'Output' })
    await keys.type(page.getByRole('textbox', { name: 'name', exact: true }), 'Ann')
    await keyboard.press('Control+Enter')
    await output.getByText('Hello Ann', { exact: true }).waitFor()
    await button(trying('These inputs again')).waitFor()
    await button(trying('Keep as row…')).waitFor()
    await page.getByText('No problems found.').waitFor()
    await visit.picture('try-1440')
    const { count } = await bench.ask('POST', '/workflows/query', { workflow: { slugs: ['greetings'] } })
    expect(count, 'nothing is saved by trying').to.equal(0)
    await keyboard.press('Control+s')
    await dialog(trying('Save version')).waitFor()
    await keyboard.press('Control+Enter')
    await page.waitForURL('**/a/greetings/v/greetings/1')
    const playing = (name: string): string => said('The playground', name)
    await keys.press(page.getByRole('link', { name: playing('Run'), exact: true }))
    await page.waitForURL('**/a/greetings/run**')
    for (let columns = 1; columns < 4; columns++) await keys.press(button(playing('Add a column')))
    await page.getByRole('button', { name: `${playing('Actions')} of column 4` }).waitFor()
    await keyboard.press('Control+Enter')
    await output.nth(3).getByText('Hello Ann', { exact: true }).waitFor()
    await keys.press(button(playing('Mark differences')))

    // 3. Collect rows: a testset typed from nothing.
    const editing = (name: string): string => said('Editing rows', name)
    await visit.go('/?make=testsets')
    await dialog('New testset').getByLabel('Name').waitFor()
    await keyboard.type('People')
    await keyboard.press('Enter')
    await page.waitForURL('**/t/people')
    await keys.press(button(editing('Type rows')))
    for (const [name, at] of [
      ['name', 'Add the first column'],
      ['answer', 'Column'],
    ] as const) {
      await keys.press(button(editing(at)))
      if (at === 'Column') await keys.pick(page.getByRole('menuitem', { name: 'Add a column' }))
      await dialog('Add a column').getByLabel('Name').waitFor()
      await keyboard.type(name)
      await keyboard.press('Enter')
      await dialog('Add a column').waitFor({ state: 'detached' })
    }
    const grid = page.getByRole('grid')
    await keys.tabTo(grid)
    await keyboard.press('Home')
    await keyboard.press('ArrowRight')
    for (const [name, answer] of [
      ['Ann', 'Hello Ann'],
      ['Bob', 'Hello Bob!'],
    ] as const) {
      await keyboard.type(name)
      await keyboard.press('Tab')
      await keyboard.type(answer)
      await keyboard.press('Enter')
    }
    await button(editing('Row')).waitFor()
    await button(editing('Review')).waitFor()
    await page.getByText('2 added').first().waitFor()
    await visit.picture('rows-1440')
    await keyboard.press('Control+s')
    await dialog(/^Save version/).waitFor()
    await keyboard.press('Control+Enter')
    await page.getByText('No changes', { exact: true }).waitFor()
    await visit.go('/a/greetings/run?testset=people')
    await button(playing('Up to 50 rows')).waitFor()

    // 4. Evaluate, find the row that fails, and run it again.
    const evaluating = (name: string): string => said('Evaluations and traces', name)
    const ofPrompt = (name: string): string => said('The page of a prompt', name)
    await visit.go('/a/greetings')
    await keys.press(page.getByRole('link', { name: ofPrompt('Evaluate …') }))
    const form = dialog('Start an evaluation')
    for (const [field, typed] of [
      ['Testset', 'people'],
      ['Add an evaluator', 'exact'],
    ] as const) {
      await keys.type(form.getByRole('combobox', { name: field }), typed)
      await form.getByRole('option', { name: new RegExp(typed, 'i') }).waitFor()
      await keyboard.press('Enter')
    }
    await keys.press(form.getByRole('button', { name: 'Start the evaluation' }))
    await page.getByRole('heading', { name: 'greetings v1 on people v1' }).waitFor()
    const evaluation = page.url()
    const rows = page.getByRole('table', { name: 'Rows of the evaluation' })
    await rows.getByText('Hello Bob!').waitFor()
    for (const name of ['Errors', 'Passed']) await button(evaluating(name)).waitFor()
    await keys.press(button(evaluating('Failed')))
    await page.waitForURL('**show=failed**')
    await rows.getByText('Ann').first().waitFor({ state: 'detached' })
    await rows.getByText('Hello Bob!').waitFor()
    await keyboard.press('j')
    await keys.expectFocus(page.getByRole('region', { name: 'Rows of the evaluation, scrolled' }))
    await keyboard.press('Enter')
    const panel = page.getByRole('complementary', { name: 'The opened row' })
    await panel.getByRole('button', { name: evaluating('Run this row again') }).waitFor()
    await panel.getByRole('link', { name: evaluating('Open in playground') }).waitFor()
    await keyboard.press('r')
    await panel.getByText('Run again: exact v1 failed').waitFor()
    await visit.picture('evaluation-1440')
    const failed = page.url()
    expect(failed.startsWith(evaluation.split('?')[0] ?? '')).to.equal(true)
    await visit.go('/a/greetings/edit/greetings')
    await keys.type(page.getByRole('textbox', { name: /^Text of message 2/ }), 'Hello {{name}}!')
    await keyboard.press('Control+s')
    await dialog('Save version').waitFor()
    await keyboard.press('Control+Enter')
    await page.waitForURL('**/a/greetings/v/greetings/2')
    await page.goto(failed)
    await keys.press(panel.getByRole('button', { name: evaluating('Run with v2') }))
    await page.getByRole('heading', { name: 'greetings v2 on people v1' }).waitFor()
    await rows.getByRole('row', { name: /Hello Bob! .*exact v1 passed/ }).waitFor()

    // 5. Deploy a version, and see what runs where.
    await visit.go('/a/greetings')
    for (const name of ['Deployed', 'Last evaluation', 'Use in code', 'Used by'])
      await page.getByRole('heading', { name: ofPrompt(name), exact: true }).waitFor()
    await keys.press(button(ofPrompt('Deploy …')))
    await keys.tabTo(dialog(/^Deploy greetings v2/).getByLabel('Environment'))
    await keyboard.type('prod')
    await keys.press(button('Deploy greetings v2 to production'))
    await dialog(/^Deploy/).waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'production v2' }).waitFor()
    await visit.picture('artifact-1440')
    await keys.press(button(ofPrompt('More')))
    for (const name of [
      'Merge …',
      'Compare',
      'New variant …',
      'Duplicate …',
      'Rename …',
      'Tags …',
      'Archive the prompt …',
    ])
      await page.getByRole('menuitem', { name: ofPrompt(name), exact: true }).waitFor()

    // 6. Go back.
    const back = (name: string): string => said('Conflicts, and going back', name)
    await visit.go('/a/greetings/v/greetings/1')
    await keys.press(button('More'))
    await page.getByRole('menuitem', { name: `${back('Restore')} v1 …` }).waitFor()
    await page.getByRole('menuitem', { name: `${back('Undo the change')} of v1 …` }).waitFor()
    await page
      .getByRole('menuitem', { name: back('Copy the change to …').replace('to', 'of v1 to') })
      .waitFor()
    await keys.pick(page.getByRole('menuitem', { name: 'Restore v1 …' }))
    await dialog('Restore v1 in greetings').locator('del').first().waitFor()
    await keyboard.press('Control+Enter')
    await dialog('Restore v1 in greetings').getByText('Done: greetings is now v3').waitFor()
    await keys.expectNoMouse()
    await visit.go('/')
    await page.getByRole('region', { name: 'Latest changes' }).getByText('Restore').waitFor()
    await visit.picture('home-1440')
    await visit.close()
  })
})
