import { expect } from 'chai'
import { closeBrowser } from '../support/browser/open-browser.ts'
import { openWorkbench, type Workbench } from './support/workbench.ts'

describe('workbench: what acts, on a telephone', () => {
  let bench: Workbench
  before(async () => {
    bench = await openWorkbench()
    await bench.ask('POST', '/simple/applications/', {
      application: { slug: 'greeting', name: 'Greeting', data: dataOf('Be kind to everybody who asks.') },
    })
    await bench.ask('POST', '/variants/fork', {
      application_variant: { slug: 'formal' },
      application_variant_ref: { slug: 'greeting' },
    })
    await commit('greeting', 'Be kind and brief to everybody who asks.')
    await commit('formal', 'Be kind and formal to everybody who asks.')
    await bench.ask('POST', '/applications/revisions/deploy', {
      application_revision_ref: { slug: 'greeting-1' },
      environment_ref: { slug: 'production' },
    })
    await bench.ask('POST', '/simple/testsets/', {
      testset: {
        slug: 'people',
        data: { testcases: ['Ann', 'Bob'].map((name) => ({ data: { name, city: 'Oslo', age: 41 } })) },
      },
    })
    await bench.ask('POST', '/simple/evaluators/', {
      evaluator: { slug: 'page', template: 'auto_regex_test', data: { parameters: { regex_pattern: 'p' } } },
    })
  })
  after(async () => {
    await closeBrowser()
    await bench.close()
  })

  function dataOf(system: string): object {
    const messages = [
      { role: 'system', content: system },
      {
        role: 'user',
        content: 'Hello {{name}}, a_word_that_is_longer_than_a_telephone_is_wide_and_has_no_spaces',
      },
    ]
    const prompt = { messages, llm_config: { model: 'mock/examples' }, template_format: 'curly' }
    return { uri: 'svc:builtin:completion:v0', parameters: { prompt } }
  }
  const commit = (slug: string, system: string) =>
    bench.ask('POST', '/applications/revisions/commit', {
      application_revision_commit: { application_variant_ref: { slug }, data: dataOf(system) },
    })

  it('fits: columns, an editor, a draft of rows, sheets and forms, a selection', async () => {
    const visit = await bench.visit({
      path: '/a/greeting/run?columns=v:,v:greeting@1',
      width: 390,
      height: 844,
    })
    const { page, go } = visit
    const { keyboard } = page
    const button = (name: string) => page.getByRole('button', { name, exact: true })
    async function fits(name: string): Promise<void> {
      expect(await page.evaluate(WIDER), name).to.deep.equal([])
      await visit.expectNoBarriers()
      await visit.picture(`${name}-390`)
    }

    await page.getByLabel('name').fill('Ann')
    await keyboard.press('Control+Enter')
    await page.getByRole('region', { name: 'Output' }).nth(1).getByText('Hello Ann').waitFor()
    await button('Mark differences').click()
    await fits('playground')

    await go('/a/greeting/edit/greeting')
    await page.getByRole('textbox', { name: 'Text of message 1, system' }).click()
    await keyboard.type('Please: ')
    await page.getByRole('textbox', { name: 'name', exact: true }).fill('Ann')
    await keyboard.press('Control+Enter')
    await page.getByRole('region', { name: 'Output' }).getByText('Hello Ann').waitFor()
    await fits('editor')

    await go('/t/people')
    await page.getByRole('gridcell', { name: 'Ann', exact: true }).click()
    await keyboard.type('Anna')
    await keyboard.press('Enter')
    await page.getByText('1 changed').waitFor()
    await fits('rows')
    await button('Review').click()
    await page.getByRole('dialog').getByText('Anna').waitFor()
    await fits('review')

    await go('/a/greeting/compare/v:greeting...v:formal')
    await button('Resolve 1 conflict').click()
    await page.getByRole('region', { name: 'Conflict 1 of 1: System message' }).waitFor()
    await fits('conflict')

    await go('/a/greeting/v/greeting/2')
    await button('More').waitFor()
    await keyboard.press('d')
    await page.getByRole('dialog').getByLabel('Environment').selectOption('production')
    await button('Deploy greeting v2 to production').waitFor()
    await page.getByRole('dialog').locator('ins').first().waitFor()
    await fits('deploy')

    await go('/a/greeting/v/greeting/2')
    await button('More').click()
    await page.getByRole('menuitem', { name: 'Undo the change of v2 …' }).click()
    await page.getByRole('dialog').locator('del').first().waitFor()
    await fits('undo')

    await go('/a/page/edit/page')
    await page.getByRole('region', { name: 'Settings' }).getByLabel('Pattern', { exact: true }).waitFor()
    await fits('evaluator')

    await go('/?make=applications')
    await page.getByRole('radio', { name: /^Single answer/ }).waitFor()
    await fits('make')

    await go('/?kind=applications')
    await page.getByLabel('Select Greeting').check()
    await page.getByText('1 prompt selected').waitFor()
    await fits('selection')
    await visit.close()
  })
})

/** What is wider than its place: the page, a dialog, or what scrolls in a dialog. */
const WIDER = `[document.documentElement, ...document.querySelectorAll('[role=dialog], [role=dialog] *')]
  .filter((it) => it.scrollWidth > it.clientWidth + 1 &&
    (/^(?:HTML|FORM)$/.test(it.tagName) || it.role === 'dialog' || /auto|scroll/.test(getComputedStyle(it).overflowY)))
  .map((it) => it.tagName + '.' + it.className)`
