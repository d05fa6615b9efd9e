import { expect } from 'chai'
import { setTimeout as pause } from 'node:timers/promises'
import type { Page } from 'playwright-core'
import { closeBrowser } from '../support/browser/open-browser.ts'
import { openWorkbench, type Workbench } from './support/workbench.ts'

const QUESTION = 'מה בירת נורווגיה?'
const CAPITAL = 'أوسلو'

describe('workbench: texts that are written from right to left', () => {
  let bench: Workbench
  let evaluation: string
  let trace: string
  before(async () => {
    bench = await openWorkbench()
    const data = (system: string) => ({
      uri: 'svc:builtin:completion:v0',
      parameters: {
        prompt: {
          messages: [
            { role: 'system', content: `${system}\nתודה.` },
            { role: 'user', content: QUESTION },
            { role: 'assistant', content: CAPITAL },
            { role: 'user', content: '{{שאלה}}' },
          ],
          llm_config: { model: 'mock/examples' },
          template_format: 'curly',
        },
        הערה: system,
      },
    })
    await bench.ask('POST', '/simple/applications/', {
      application: {
        ...{ slug: 'bot', name: 'בוט הבירות', description: 'עונה על שאלות.', tags: { צוות: 'אדום' } },
        data: data('ענה במילה אחת.'),
      },
    })
    await bench.ask('POST', '/applications/revisions/commit', {
      application_revision_commit: {
        ...{ application_variant_ref: { slug: 'bot' }, message: 'קצר יותר' },
        data: data('ענה במילה אחת, בערבית.'),
      },
    })
    await bench.ask('POST', '/applications/revisions/deploy', {
      application_revision_ref: { slug: 'bot', version: 2 },
      ...{ environment_ref: { slug: 'production' }, message: 'שחרור ראשון' },
    })
    const rows = (capital: string) => ({
      testcases: [{ data: { שאלה: QUESTION, בירה: capital } }, { data: { שאלה: 'אחר', בירה: 'لا' } }],
    })
    await bench.ask('POST', '/simple/testsets/', {
      testset: { slug: 'rows', name: 'שאלות', data: rows('برغن') },
    })
    await bench.ask('POST', '/testsets/revisions/commit', {
      testset_revision_commit: {
        ...{ testset_variant_ref: { slug: 'rows' }, message: 'תיקון' },
        data: rows(CAPITAL),
      },
    })
    await bench.ask('POST', '/simple/evaluators/', {
      evaluator: {
        ...{ slug: 'exact', template: 'auto_exact_match' },
        data: { parameters: { correct_answer_key: 'בירה' } },
      },
    })
    const { evaluation: run } = await bench.ask('POST', '/evaluations/run', {
      application_revision_ref: { slug: 'bot', version: 2 },
      testset_revision_ref: { slug: 'rows', version: 2 },
      evaluator_refs: [{ slug: 'exact' }],
    })
    evaluation = run.id
    await bench.ask('POST', '/keys/', { key: { name: 'מפתח', scopes: ['read'] } })
    let results: readonly any[] = []
    while (results.length < 2)
      ({ results } = await bench.ask('POST', `/evaluations/${evaluation}/results`, {}))
    trace = results[0].trace_id
  })
  after(async () => {
    await closeBrowser()
    await bench.close()
  })

  /** The texts that begin in Hebrew or Arabic: how many there are, and those that are set from left to right all the same. */
  const setWrongly = (page: Page): Promise<{ readonly seen: number; readonly wrong: readonly string[] }> =>
    page.evaluate(`(() => {
      const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
      const wrong = []
      let seen = 0
      for (let node = walker.nextNode(); node; node = walker.nextNode()) {
        const parent = node.parentElement
        if (!/^[^\\p{L}]*[\\u0590-\\u06ff]/u.test(node.data) || parent.closest('option, .visually-hidden')) continue
        seen++
        if (!parent.matches(':dir(rtl)')) wrong.push(parent.outerHTML.slice(0, 200))
      }
      for (const field of document.querySelectorAll('input, textarea')) {
        if (!/^[^\\p{L}]*[\\u0590-\\u06ff]/u.test(field.value)) continue
        seen++
        if (!field.matches(':dir(rtl)')) wrong.push(field.outerHTML.slice(0, 200))
      }
      return { seen, wrong }
    })()`)

  it('are set so wherever they stand: lists, messages, differences, rows, tables, traces', async () => {
    const places: readonly (readonly [path: () => string, text: string, least: number])[] = [
      [() => '/', 'קצר יותר', 2],
      [() => '/?kind=applications', 'בוט הבירות', 2],
      [() => '/?kind=testsets', 'שאלות', 1],
      [() => '/?q=נורווגיה', 'נורווגיה', 1],
      [() => '/a/bot', 'קצר יותר', 4],
      [() => '/a/bot/v/bot/2', 'תודה.', 5],
      [() => '/a/bot/compare/r:bot-1...r:bot-2', 'בערבית', 4],
      [() => '/a/bot/run', QUESTION, 0],
      [() => '/t/rows', QUESTION, 3],
      [() => '/t/rows?view=versions', 'תיקון', 1],
      [() => '/t/rows/compare/r:rows-1...r:rows-2', 'برغن', 2],
      [() => '/env', 'בוט הבירות', 1],
      [() => '/env/production', 'שחרור ראשון', 1],
      [() => '/env/production?view=now', 'שחרור ראשון', 2],
      [() => `/eval/${evaluation}`, QUESTION, 3],
      [() => `/eval/${evaluation}...${evaluation}`, QUESTION, 3],
      [() => `/eval/${evaluation}?tab=versions`, 'bot', 0],
      [() => '/eval', 'bot', 0],
      [() => '/a/bot/edit/bot', QUESTION, 4],
      [() => '/a/bot/edit/bot?view=json', 'הערה', 1],
      [() => '/settings/keys', 'מפתח', 1],
      [() => '/settings/webhooks', 'hook', 0],
      [() => '/settings/secrets', 'סוד', 0],
      [() => '/trace', QUESTION, 1],
      [() => `/trace/${trace}`, QUESTION, 1],
    ]
    const visit = await bench.visit()
    const wrong: Record<string, readonly string[]> = {}
    for (const [path, text, least] of places) {
      await visit.go(path())
      if (least > 0) await visit.page.getByText(text).first().waitFor()
      // The colours of JSON come after its text, and put each string into an element of its own.
      if (path().endsWith('view=json')) await visit.page.locator('.cm-line span').first().waitFor()
      let found = await setWrongly(visit.page)
      // An editor marks texts a moment after it shows them.
      for (let left = 100; found.wrong.length > 0 && left > 0; left--) {
        await pause(50)
        found = await setWrongly(visit.page)
      }
      expect(found.seen, path()).to.be.at.least(least)
      if (found.wrong.length > 0) wrong[path()] = found.wrong
    }
    expect(wrong).to.deep.equal({})
    await visit.close()
  })
})
