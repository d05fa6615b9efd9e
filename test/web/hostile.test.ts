import { execFileSync } from 'node:child_process'
import { expect } from 'chai'
import { closeBrowser } from '../support/browser/open-browser.ts'
import { openWorkbench, type Workbench } from './support/workbench.ts'

const HOSTILE = `<script>document.title = 'taken'</script><img src="http://127.0.0.1:1/x.png"> [a](javascript:alert(1)) \u202Egnp.exe`
/** A variable that ends what a shell has in quotes, and then runs. */
const VARIABLE = "it's $(echo taken) `echo taken` <b>"

describe('workbench: hostile texts where something is changed', () => {
  let bench: Workbench
  before(async () => {
    bench = await openWorkbench()
  })
  after(async () => {
    await closeBrowser()
    await bench.close()
  })

  it('are texts in lists, lines of code, conflicts, kept rows, reviews and the audit list', async () => {
    const dataOf = (system: string) => {
      const messages = [
        { role: 'system', content: system },
        { role: 'user', content: `{{${VARIABLE}}}` },
      ]
      const prompt = { messages, llm_config: { model: 'mock/examples' }, template_format: 'curly' }
      return { uri: 'svc:builtin:completion:v0', parameters: { prompt } }
    }
    await bench.ask('POST', '/simple/applications/', {
      application: { slug: 'h', name: HOSTILE, tags: { [HOSTILE]: HOSTILE }, data: dataOf(HOSTILE) },
    })
    await bench.ask('POST', '/variants/fork', {
      application_variant: { slug: 'theirs', name: HOSTILE },
      application_variant_ref: { slug: 'h' },
    })
    for (const slug of ['h', 'theirs'])
      await bench.ask('POST', '/applications/revisions/commit', {
        application_revision_commit: {
          ...{ application_variant_ref: { slug }, message: HOSTILE },
          data: dataOf(`${slug}: ${HOSTILE}`),
        },
      })
    await bench.ask('POST', '/simple/testsets/', {
      testset: { slug: 'rows', name: HOSTILE, data: { testcases: [{ data: { [HOSTILE]: 'a' } }] } },
    })
    const visit = await bench.visit({ path: '/?kind=applications' })
    const { page, go } = visit
    const { keyboard } = page
    const button = (name: string | RegExp) => page.getByRole('button', { name })
    /** It is there as text, and nothing was made of it. A picture that was asked for fails the visit. */
    const isText = async (within: ReturnType<typeof page.locator>): Promise<void> => {
      await within
        .getByText(/<script>/)
        .filter({ visible: true })
        .first()
        .waitFor()
      expect(
        await page.locator('main img, [role=dialog] img, body script, a[href^="javascript:" i]').count(),
      ).to.equal(0)
      expect(await page.title()).to.not.equal('taken')
    }
    const list = page.getByRole('region', { name: 'Prompts' })
    await isText(list.getByRole('link'))
    await isText(list.getByRole('button'))

    await go('/a/h')
    const code = page.locator('section', { has: page.getByRole('heading', { name: 'Use in code' }) })
    for (const [tab, label, program] of [
      ['curl', 'Run the prompt', 'curl'],
      ['Command line', 'Run the prompt', 'branchpoint'],
    ] as const) {
      await code.getByRole('tab', { name: tab }).click()
      await code.getByRole('button', { name: new RegExp(`^Copy.*${label}`) }).click()
      const copied = (await page.evaluate('navigator.clipboard.readText()')) as string
      const words = execFileSync('bash', ['-c', `${program}() { printf '%s\\0' "$@"; }\n${copied}`], {
        encoding: 'utf8',
      })
      const last = words.split('\0').at(-2) ?? ''
      if (program === 'curl') expect(Object.keys(JSON.parse(last).data.inputs)).to.deep.equal([VARIABLE])
      else expect(last).to.equal(`${VARIABLE}=…`)
    }

    // An address may hold anything, too, and its page shows lines that people paste into a shell.
    for (const place of ['/eval/%24(echo%20taken)', '/q/%60echo%20taken%60', '/trace/%22;echo%20taken;%22']) {
      await go(place)
      const lines = page.locator('main details', { has: page.getByText('API', { exact: true }) }).last()
      await lines.getByText('API', { exact: true }).click()
      const [line = ''] = await lines.locator('pre').allTextContents()
      const said = execFileSync('bash', ['-c', `curl() { printf '%s\\n' "$1"; }\n${line}`], {
        encoding: 'utf8',
      })
      expect(said, place).to.match(/^http:\/\/[^ ]+echo%20taken[^ ]*\n$/)
    }

    await go('/a/h/compare/v:h...v:theirs')
    await button('Resolve 1 conflict').click()
    const sheet = page.getByRole('dialog')
    await isText(sheet.getByRole('region', { name: /^Conflict 1 of 1/ }))
    await keyboard.press('2')
    const result = sheet.getByRole('region', { name: /^Result/ })
    await result.getByText(/theirs: /).waitFor()
    await isText(result)

    await go('/a/h/edit/h')
    await page.getByRole('textbox', { name: VARIABLE, exact: true }).fill(HOSTILE)
    await keyboard.press('Control+Enter')
    await isText(page.getByRole('region', { name: 'Output' }))
    await button('Keep as row…').click()
    const keep = page.getByRole('dialog', { name: 'Keep as row' })
    await keep.getByRole('combobox', { name: 'Testset' }).fill('rows')
    await page.getByRole('option', { name: /rows/ }).click()
    await isText(keep)
    await keep.getByRole('button', { name: 'Add the row' }).click()
    await page.getByText(/Row added: rows is now at v2/).waitFor()

    await go('/t/rows')
    await isText(page.getByRole('grid'))
    await page.getByRole('gridcell', { name: 'a', exact: true }).click()
    await keyboard.press('Enter')
    await keyboard.press('Control+a')
    await keyboard.insertText(HOSTILE)
    await keyboard.press('Enter')
    await page.getByText('1 changed').waitFor()
    await button('Review').click()
    await isText(sheet.getByRole('row'))

    // The name of a key has no angle brackets, as that of an author in git.
    const name = '&lt;b&gt; javascript:alert(1)'
    await bench.ask('POST', '/keys', { key: { name, scopes: ['read'] } })
    await go('/settings/audit')
    await page.getByRole('region', { name: 'Audit' }).getByRole('link', { name, exact: true }).waitFor()
    await visit.close()
  })
})
