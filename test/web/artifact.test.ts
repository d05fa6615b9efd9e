import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect } from 'chai'
import { closeBrowser } from '../support/browser/open-browser.ts'
import { pushRevisions, pushTo, seedPrompt } from './support/seed-prompts.ts'
import { openWorkbench, type Workbench } from './support/workbench.ts'

const README = `# What it is for

Answers *tickets*; read [the manual](https://example.org/manual), not [this](javascript:alert(1)).

![A cat](http://example.org/cat.png)

<img src="http://example.org/spy.png" onerror="alert(1)"><script>alert(1)</script>
`

const HOSTILE = '<script>document.title="taken"</script> \u202Egnp.exe ![](http://example.org/x.png)'

describe('workbench: an artifact', () => {
  let bench: Workbench
  before(async () => {
    bench = await openWorkbench()
    await seedPrompt(bench)
    await pushTo(bench, 'support-bot', (git, folder) => {
      writeFileSync(join(folder, 'README.md'), README)
      git('add', '-A')
      git('commit', '-qm', 'Say what it is for')
      git('tag', 'calm', 'HEAD~1')
    })
    await bench.ask('POST', '/simple/applications/', {
      application: { slug: 'long', data: { parameters: { count: -1 } } },
    })
    await pushRevisions(bench, 'long', 600)
  })
  after(async () => {
    await closeBrowser()
    await bench.close()
  })

  it('draws the history of all variants with what names each commit, and says what stands beside it', async () => {
    const visit = await bench.visit({ path: '/a/support-bot' })
    const { page } = visit
    const rows = page.getByRole('grid', { name: 'Versions, newest first' }).getByRole('row')
    await rows.first().waitFor()
    expect(await rows.getByRole('link').first().textContent()).to.equal('Say what it is for')
    expect(await rows.count()).to.equal(6)
    const merge = rows.filter({ hasText: 'Take in what was warmer' })
    for (const name of ['calm', 'staging']) await merge.getByRole('link', { name }).waitFor()
    const drawn = await rows.evaluateAll((all) =>
      all.map((row: any) => row.querySelector('svg').querySelectorAll('path').length),
    )
    // Newest first: the head, the merge with a line in and two out, two lanes past each other, the fork where they meet, the first.
    expect(drawn).to.deep.equal([1, 3, 3, 3, 3, 1])
    const variants = page.getByRole('complementary', { name: 'About it' })
    await variants.getByRole('link', { name: '0 ahead of support-bot, 3 behind' }).waitFor()
    // The lines for a terminal are there for those who want them.
    const clone = variants.getByText('git clone "http://me:$BRANCHPOINT_KEY@')
    expect(await clone.isVisible()).to.equal(false)
    await variants.getByText('API', { exact: true }).click()
    await clone.waitFor()
    await page.getByText('Answers the tickets of the first line.').waitFor()
    await visit.expectNoBarriers()
    await visit.close()
  })

  it('opens with what production runs, and shows any other version with where it is deployed and how it did', async () => {
    const visit = await bench.visit({ path: '/a/support-bot' })
    const { page } = visit
    const prompt = page.getByRole('region', { name: 'Prompt' })
    const versions = prompt.getByRole('group', { name: 'Version shown' })
    await prompt.getByText('Cite the manual, embed the tone').waitFor()
    expect(await versions.getByRole('button', { pressed: true }).textContent()).to.equal('production v2')
    expect(await versions.getByRole('button').allTextContents()).to.deep.equal([
      'production v2',
      'staging v4',
      'Newest v5',
    ])
    await prompt.getByRole('heading', { name: 'system' }).waitFor()
    await prompt.getByRole('link', { name: '3 versions behind' }).waitFor()
    const deployed = page.getByRole('complementary', { name: 'What the prompt does' })
    const places = deployed.getByRole('listitem')
    expect(await places.allTextContents()).to.have.length(3)
    await places.filter({ hasText: 'development' }).getByText('not deployed').waitFor()
    expect(await places.filter({ hasText: 'staging' }).textContent()).to.match(/v4.*1 version behind.*admin/)
    await deployed.getByText('Not evaluated yet.').waitFor()

    await versions.getByRole('button', { name: 'Newest v5' }).click()
    await page.waitForURL('**?shown=v%3Asupport-bot')
    await prompt.getByText('Say what it is for').waitFor()
    await page.getByRole('combobox', { name: 'Other version' }).fill('v3')
    await page.getByRole('option', { name: /^support-bot v3/ }).click()
    await page.waitForURL('**?shown=r%3Asupport-bot-3')
    await prompt.getByRole('paragraph').getByText('Cooler').waitFor()
    expect(await versions.getByRole('button', { pressed: true }).textContent()).to.equal('v3')
    await visit.expectNoBarriers()
    // A link shows the same.
    await page.reload()
    await prompt.getByRole('paragraph').getByText('Cooler').waitFor()
    await visit.close()
  })

  it('says what the last evaluation came to: of which version, its result, and when', async () => {
    await bench.ask('POST', '/simple/applications/', {
      application: {
        slug: 'judged',
        data: { uri: 'svc:custom:mock:v0', parameters: { key: 'static', kwargs: { output: 'Suva' } } },
      },
    })
    await bench.ask('POST', '/simple/evaluators/', {
      evaluator: { slug: 'exact', template: 'auto_exact_match' },
    })
    const rows = ['Suva', 'Lima'].map((answer) => ({ data: { country: '…', correct_answer: answer } }))
    await bench.ask('POST', '/simple/testsets/', {
      testset: { slug: 'capitals', data: { testcases: rows } },
    })
    const { testset_revision: capitals } = await bench.ask('POST', '/testsets/revisions/retrieve', {
      testset_ref: { slug: 'capitals' },
    })
    const evaluated = {
      ...{ testset_ref: { slug: 'capitals' }, application_ref: { slug: 'judged' } },
      evaluator_refs: [{ slug: 'exact' }],
    }
    await bench.ask('POST', '/evaluations/run', evaluated)
    // One of some rows only says little of the prompt.
    const [{ id: one }] = capitals.data.testcases
    await bench.ask('POST', '/evaluations/run', { ...evaluated, testcase_ids: [one] })
    const visit = await bench.visit({ path: '/a/judged' })
    const facts = visit.page.getByRole('complementary', { name: 'What the prompt does' })
    await facts.getByText('exact v1').waitFor()
    expect(await facts.textContent()).to.match(/v1 on capitals v1.*finished.*(just now|ago).*50\.0 % passed/)
    await facts.getByRole('link', { name: 'v1 on capitals v1' }).click()
    await visit.page.waitForURL('**/eval/*')
    // An evaluator is tried and evaluated with, but has no evaluations of its own.
    await visit.go('/a/exact')
    const evaluate = visit.page.getByRole('link', { name: 'Evaluate …', exact: true })
    await evaluate.waitFor()
    expect(await evaluate.getAttribute('href')).to.equal('/eval?new=1&evaluators=exact')
    expect(await visit.page.getByText('Last evaluation').count()).to.equal(0)
    await visit.close()
  })

  it('has a line for a terminal on every page that has something to ask for, and each asks it', async () => {
    await bench.ask('POST', '/simple/testsets/', {
      testset: { slug: 'shown', data: { testcases: [{ data: { country: 'Fiji' } }] } },
    })
    await bench.ask('POST', '/simple/queries/', { query: { slug: 'failures', data: {} } })
    await bench.ask('POST', '/simple/applications/', {
      application: {
        slug: 'fiji',
        data: { uri: 'svc:custom:mock:v0', parameters: { key: 'static', kwargs: { output: 'Suva' } } },
      },
    })
    await bench.ask('POST', '/simple/evaluators/', {
      evaluator: { slug: 'json', template: 'auto_contains_json' },
    })
    await bench.ask('POST', '/evaluations/run', {
      ...{ testset_ref: { slug: 'shown' }, application_ref: { slug: 'fiji' } },
      evaluator_refs: [{ slug: 'json' }],
    })
    const { evaluations } = await bench.ask('POST', '/evaluations/query', {})
    const { traces } = await bench.ask('POST', '/traces/query', { windowing: { limit: 1 } })
    const visit = await bench.visit()
    const { page } = visit
    for (const path of [
      ...['/', '/?kind=testsets', '/a/support-bot/v/support-bot/2'],
      ...['/a/support-bot/edit/support-bot', '/a/fiji/run'],
      ...['/a/support-bot/compare/v:support-bot...e:production', '/t/shown/v/shown/1'],
      ...['/q/failures', '/eval', `/eval/${evaluations[0].id}`],
      ...['/trace', `/trace/${traces[0].trace_id}`, '/settings/trash', '/settings/session'],
    ]) {
      await visit.go(path)
      const api = page.locator('main details', { has: page.getByText('API', { exact: true }) }).last()
      await api.getByText('API', { exact: true }).click()
      const lines = await api.locator('pre').allTextContents()
      expect(lines, path).not.to.deep.equal([])
      for (const line of lines) {
        const command = line.replace('curl ', 'curl -sw "%{http_code}" -o /dev/null ')
        const { stdout } = await promisify(execFile)('bash', ['-c', command], {
          env: { ...process.env, BRANCHPOINT_KEY: bench.key },
        })
        expect(stdout, `${path}: ${line}`).to.equal('200')
      }
    }
    await visit.expectNoBarriers()
    await visit.close()
  })

  it('tells a program how to get what production runs: the lines do it as they are', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'use-in-code-'))
    const run = (command: string) =>
      promisify(execFile)('bash', ['-c', command], {
        cwd: folder,
        env: { ...process.env, BRANCHPOINT_KEY: bench.key },
      })
    const visit = await bench.visit({ path: '/a/support-bot' })
    const { page } = visit
    const code = page.getByRole('complementary', { name: 'What the prompt does' })
    const text = async (label: string): Promise<string> => {
      const block = code.getByLabel(label, { exact: true })
      await block.waitFor()
      return (await block.textContent()) ?? ''
    }
    const got = JSON.parse((await run(await text('Get the prompt'))).stdout)
    expect(got.application_revision.version).to.equal(2)
    expect(await text('Run the prompt')).to.contain('"country":"…"')
    await code.getByLabel('Environment').selectOption('staging')
    await code.getByRole('tab', { name: 'Git' }).click()
    await run(await text('Clone it; each message is a file'))
    const { stdout: subject } = await run('git -C support-bot log -1 --format=%s')
    expect(subject.trim()).to.equal('Take in what was warmer')
    await code.getByRole('tab', { name: 'Command line' }).click()
    expect(await text('Get the prompt')).to.equal('branchpoint get support-bot@staging')
    // By keys: the tabs are one stop, arrows go through them.
    for (const [tab, expected] of [
      ['Git', 'refs/environments/staging'],
      ['Python', 'label="staging"'],
      ['JavaScript', "label: 'staging'"],
      ['LiteLLM', 'environment: staging'],
    ] as const) {
      await page.keyboard.press('ArrowRight')
      await code.getByRole('tab', { name: tab, selected: true }).waitFor()
      expect(await code.locator('[role=tabpanel]:not([hidden])').textContent()).to.contain(expected)
    }
    await code.getByLabel('Environment').selectOption({ label: 'none: always the newest version' })
    expect(await code.locator('[role=tabpanel]:not([hidden])').textContent()).not.to.contain('environment')
    await visit.expectNoBarriers()
    await visit.close()
    rmSync(folder, { recursive: true, force: true })
  })

  it('is renamed, described and tagged, duplicated digit for digit, compared, merged, tried and evaluated', async () => {
    const exact =
      '{"parameters":{"prompt":{"messages":[{"role":"user","content":"Hi"}]},"n":12345678901234567890,"r":1.50}}'
    const made = await fetch(`${bench.url}/simple/applications`, {
      method: 'POST',
      headers: { Authorization: `ApiKey ${bench.key}`, 'Content-Type': 'application/json' },
      body: `{"application":{"slug":"plain","name":"Plain","tags":{"team":"a","old":true},"data":${exact}}}`,
    })
    expect(made.status, await made.clone().text()).to.equal(200)
    const visit = await bench.visit({ path: '/a/plain' })
    const { page } = visit
    const dialog = page.getByRole('dialog')
    const choose = async (item: string): Promise<void> => {
      await page.getByRole('button', { name: 'More', exact: true }).click()
      await page.getByRole('menuitem', { name: item, exact: true }).click()
    }
    await page.getByRole('region', { name: 'Prompt' }).getByText('Hi').waitFor()
    await choose('Rename …')
    await dialog.getByLabel('Name').fill('Fancy <b>')
    await dialog.getByLabel('Description').fill('Says hi.')
    await visit.expectNoBarriers()
    await dialog.getByRole('button', { name: 'Rename' }).click()
    await dialog.waitFor({ state: 'detached' })
    await page.getByText('Fancy <b>', { exact: true }).waitFor()
    await page.getByText('Says hi.').waitFor()

    await choose('Tags …')
    await dialog.getByLabel('Value of tag 1', { exact: true }).fill('b')
    await dialog.getByLabel('Tag 3', { exact: true }).fill('stage')
    await dialog.getByLabel('Value of tag 3', { exact: true }).fill('draft')
    await dialog.getByLabel('Tag 4', { exact: true }).fill('team')
    await dialog.getByText('The tag “team” is there twice.').last().waitFor()
    await dialog.getByRole('button', { name: 'Remove tag 4' }).click()
    await visit.expectNoBarriers()
    // Somebody else tags it meanwhile: that tag stays.
    await bench.ask('PUT', '/simple/applications/plain', {
      application: { tags: { team: 'a', old: true, other: 'kept' } },
    })
    await dialog.getByRole('button', { name: 'Save the tags' }).click()
    await dialog.waitFor({ state: 'detached' })
    const { application } = await bench.ask('GET', '/simple/applications/plain')
    expect(application.tags).to.deep.equal({ team: 'b', old: true, other: 'kept', stage: 'draft' })

    await choose('Duplicate …')
    await dialog.getByLabel('Name').fill('Café support')
    expect(await dialog.getByLabel('ID').inputValue()).to.equal('cafe-support')
    await dialog.getByLabel('ID').fill('support-bot')
    await dialog.getByRole('button', { name: 'Create support-bot' }).click()
    await dialog.getByText(/“support-bot” is taken/).waitFor()
    await dialog.getByLabel('ID').fill('cafe')
    await dialog.getByRole('button', { name: 'Create cafe' }).click()
    await page.waitForURL('**/a/cafe')
    const answer = await fetch(`${bench.url}/simple/applications/cafe`, {
      headers: { Authorization: `ApiKey ${bench.key}` },
    })
    expect(await answer.text()).to.contain('"n":12345678901234567890,"r":1.50')

    await visit.go('/a/cafe')
    const more = page.getByRole('button', { name: 'More', exact: true })
    await more.click()
    const merge = page.getByRole('menuitem', { name: 'Merge …' })
    expect(await merge.getAttribute('title')).to.equal('There is one variant. Make a new variant first.')
    await page.keyboard.press('Escape')
    await visit.go('/a/support-bot')
    await page.getByRole('region', { name: 'Prompt' }).getByText('versions behind').waitFor()
    await choose('Merge …')
    await dialog.getByLabel('Merge the changes of').selectOption('warmer')
    await dialog.getByLabel('into').selectOption('support-bot')
    await dialog.getByRole('button', { name: 'Show the result' }).click()
    await page.waitForURL('**/a/support-bot/compare/v:support-bot...v:warmer')
    await visit.go('/a/support-bot')
    await page.getByRole('region', { name: 'Prompt' }).getByText('versions behind').waitFor()
    await choose('Compare')
    await page.waitForURL('**/a/support-bot/compare/e:production...v:support-bot')
    await visit.go('/a/support-bot')
    await page.getByRole('region', { name: 'Prompt' }).getByText('versions behind').waitFor()
    await page.keyboard.press('v')
    await page.waitForURL('**/eval?new=1&prompt=support-bot&variant=support-bot&version=2')
    await page.getByRole('dialog').waitFor()
    await page.goBack()
    await page.getByRole('link', { name: 'Try', exact: true }).click()
    await page.waitForURL('**/a/support-bot/run?left=v%3Asupport-bot%402')
    await visit.close()
  })

  it('shows a README without its HTML, its pictures, and links that lead nowhere good', async () => {
    const visit = await bench.visit({ path: '/a/support-bot' })
    const readme = visit.page.getByRole('region', { name: 'README.md' })
    await readme.getByRole('heading', { name: 'What it is for' }).waitFor()
    expect(await readme.getByRole('link', { name: 'the manual' }).getAttribute('rel')).to.contain('noopener')
    expect(await readme.getByRole('link', { name: 'this' }).count()).to.equal(0)
    await readme.getByText('A cat').waitFor()
    await readme.getByText('onerror="alert(1)"').waitFor()
    expect(await readme.locator('img, script').count()).to.equal(0)
    await visit.close()
  })

  it('shows a README as it is written whose structure would keep the browser busy, and lays out a long one', async () => {
    const texts = {
      lists: '- '.repeat(20_000),
      'lists-by-lines': Array.from({ length: 280 }, (_, at) => `${'  '.repeat(at)}- a`).join('\n'),
      quotes: '> '.repeat(20_000),
      links: '[a](b'.repeat(30_000),
      columns: `${'|a'.repeat(20_000)}|\n${'|-'.repeat(20_000)}|\n`,
      'columns-of-short-rows': `${'|a'.repeat(60)}|\n${'|-'.repeat(60)}|\n${'|b|\n'.repeat(10_000)}`,
      emphasis: '*a **b _c '.repeat(4_000),
      items: '- a\n'.repeat(10_000),
    }
    const visit = await bench.visit({ path: '/' })
    const shown = visit.page.getByRole('region', { name: 'README.md' })
    for (const [name, text] of Object.entries(texts)) {
      const slug = `readme-${name}`
      await withReadme(slug, text)
      await visit.go(`/a/${slug}`)
      await shown.getByText('This text has too much structure to be laid out.').waitFor()
      expect(await shown.locator('pre').textContent(), name).to.equal(text)
      expect(await shown.locator('li, blockquote, a, table, em').count(), name).to.equal(0)
    }
    await visit.expectNoBarriers()
    const section =
      '## Steps\n\n- Ask [the *manual*](https://example.org)\n  - twice\n\n|a|b|\n|-|-|\n|1|2|\n\nAnd so on.\n\n'
    await withReadme('readme-long', section.repeat(200))
    await visit.go('/a/readme-long')
    await shown.getByRole('heading', { name: 'Steps' }).last().waitFor()
    expect(await shown.locator('table').count()).to.equal(200)
    expect(await shown.locator('li li').count()).to.equal(200)
    await visit.close()
  })

  async function withReadme(slug: string, text: string): Promise<void> {
    await bench.ask('POST', '/simple/applications/', { application: { slug, data: { parameters: {} } } })
    await pushTo(bench, slug, (git, folder) => {
      writeFileSync(join(folder, 'README.md'), text)
      git('add', '-A')
      git('commit', '-qm', 'Say what it is')
    })
  }

  it('leads by keys alone from the start over the palette to two picked revisions and their comparison', async () => {
    const visit = await bench.visit()
    const { page } = visit
    await page.getByRole('navigation', { name: 'Places' }).waitFor()
    await page.keyboard.press('Control+k')
    await page.getByLabel('Command or words to search for').fill('first line')
    await page
      .getByRole('option', { name: /support-bot/ })
      .first()
      .waitFor()
    await page.keyboard.press('Enter')
    await page.waitForURL('**/a/support-bot**')
    if (page.url().includes('/r/')) await visit.go('/a/support-bot')
    const rows = page.getByRole('grid').getByRole('row')
    await rows.first().waitFor()
    await page.keyboard.press('j')
    await page.keyboard.press('j')
    await page.keyboard.press('Space')
    await page.getByText('Pick another one to compare.').waitFor()
    for (let step = 0; step < 3; step++) await page.keyboard.press('j')
    await page.keyboard.press('Space')
    await page.waitForURL('**/a/support-bot?picked=support-bot-4%2Csupport-bot-2')
    expect(await page.getByRole('row', { selected: true }).count()).to.equal(2)
    await visit.expectNoBarriers()
    // A link to the address shows the same.
    await page.reload()
    await page.getByRole('row', { selected: true }).nth(1).waitFor()
    await page.keyboard.press('c')
    await page.waitForURL('**/a/support-bot/compare/r:support-bot-2...r:support-bot-4')
    await page.goBack()
    await rows.first().waitFor()
    await page.keyboard.press('j')
    await page.keyboard.press('Enter')
    await page.waitForURL('**/a/support-bot/v/support-bot/5')
    // Back is at the same row.
    await page.goBack()
    await page.locator('[role=row]:focus').getByText('Say what it is for').waitFor()
    await visit.close()
  })

  it('draws only what is seen of a long history, and loads the rest as one gets to it', async () => {
    const visit = await bench.visit({ path: '/a/long' })
    const { page } = visit
    const grid = page.getByRole('grid')
    await grid.getByText('Count 599').waitFor()
    expect(await grid.getByRole('row').count()).to.be.below(80)
    await page.waitForFunction(() => {
      const { document } = globalThis as any // there are no types of browsers here
      const list = document.querySelector('[role=grid]')
      list.scrollTop = list.scrollHeight
      return list.textContent.includes('First revision')
    })
    expect(await grid.getAttribute('aria-rowcount')).to.equal('601')
    expect(await grid.getByRole('row').count()).to.be.below(80)
    await visit.close()
  })

  it('forks a variant from a picked revision, and says what a name that is taken says', async () => {
    const visit = await bench.visit({ path: '/a/support-bot' })
    const { page } = visit
    await page.getByRole('checkbox', { name: 'Pick support-bot v1' }).click()
    await page.getByRole('button', { name: 'More for v1' }).click()
    await page.getByRole('menuitem', { name: 'New variant from here …' }).click()
    const dialog = page.getByRole('dialog', { name: 'New variant from support-bot v1' })
    await dialog.getByLabel('Name of the variant').fill('warmer')
    await dialog.getByRole('button', { name: 'Create warmer' }).click()
    await dialog.getByText(/“warmer” is taken/).waitFor()
    expect(await dialog.getByLabel('Name of the variant').getAttribute('aria-invalid')).to.equal('true')
    await visit.expectNoBarriers()
    await dialog.getByLabel('Name of the variant').fill('bolder')
    await page.keyboard.press('Enter')
    await dialog.waitFor({ state: 'detached' })
    const first = page.getByRole('row').filter({ hasText: 'First revision' })
    await first.getByRole('link', { name: 'bolder' }).waitFor()
    const { workflow_revisions: log } = await bench.ask('POST', '/workflows/revisions/log', {
      workflow_variant_ref: { slug: 'bolder' },
    })
    expect(log).to.have.length(1)
    await visit.close()
  })

  it('deletes what nobody needs, and says who needs the rest', async () => {
    await bench.ask('POST', '/simple/workflows/', { workflow: { slug: 'mistake', data: { parameters: {} } } })
    const visit = await bench.visit({ path: '/a/mistake' })
    const { page } = visit
    const more = page.getByRole('button', { name: 'More', exact: true })
    await more.click()
    await page.getByRole('menuitem', { name: 'Delete …' }).click()
    await page.getByRole('button', { name: 'Delete mistake' }).click()
    await page.waitForURL('**/?kind=workflows')
    await visit.go('/a/mistake')
    await page.getByRole('link', { name: 'Look into the trash' }).waitFor()

    await visit.go('/a/support-bot')
    await more.click()
    await page.getByRole('menuitem', { name: 'Delete …' }).click()
    await page.getByRole('button', { name: 'Delete support-bot' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('alert').waitFor()
    await dialog.getByRole('link', { name: 'production' }).waitFor()
    await visit.expectNoBarriers()
    await visit.close()
  })

  it('lets a key that may only read look, and says why it may do nothing else', async () => {
    const { key } = await bench.ask('POST', '/keys/', { key: { name: 'reader', scopes: ['read'] } })
    const visit = await bench.visit({ path: '/a/support-bot', key: key.secret })
    const { page } = visit
    const edit = page.getByRole('link', { name: /^Edit support-bot/ })
    await edit.waitFor()
    expect(await edit.textContent()).to.contain('lacks the scope write')
    await page.getByRole('button', { name: 'More', exact: true }).click()
    const archive = page.getByRole('menuitem', { name: 'Archive the prompt …' })
    expect(await archive.getAttribute('aria-disabled')).to.equal('true')
    await visit.close()
  })

  it('names what is near where nothing is, and tells how to begin where nothing is committed', async () => {
    await bench.ask('POST', '/applications', { application: { slug: 'bare' } })
    const visit = await bench.visit({ path: '/a/suport-bot' })
    const { page } = visit
    await page.getByText('Did you mean "support-bot"').waitFor()
    await visit.expectNoBarriers()
    await page.getByRole('link', { name: 'support-bot' }).click()
    await page.waitForURL('**/a/support-bot')
    await visit.go('/a/bare')
    await page.getByText('Nothing is saved yet.').waitFor()
    await visit.expectNoBarriers()
    await visit.close()
  })

  it('shows what is hostile as text', async () => {
    await bench.ask('POST', '/simple/evaluators/', {
      evaluator: {
        slug: 'hostile',
        name: HOSTILE,
        description: `${HOSTILE} ${'y'.repeat(200_000)}`,
        tags: { [HOSTILE]: HOSTILE },
        data: { parameters: {} },
        message: `${HOSTILE} ${'x'.repeat(200_000)}`,
      },
    })
    const visit = await bench.visit({ path: '/a/hostile', width: 390, height: 844 })
    const { page } = visit
    await page.getByRole('row').getByText('<script>').waitFor()
    await visit.picture('artifact-hostile-390')
    await page.getByRole('listitem').filter({ hasText: '<script>' }).first().waitFor()
    expect(await page.evaluate('document.documentElement.scrollWidth')).to.be.at.most(390)
    expect(await page.title()).to.equal('hostile · Evaluators · Branchpoint')
    await visit.expectNoBarriers()
    await visit.close()
  })

  it('says that somebody else pushed, and shows it when it is asked to', async () => {
    const visit = await bench.visit({ path: '/a/long' })
    const { page } = visit
    await page.getByRole('grid').getByText('Count 599').waitFor()
    await page.getByText('live', { exact: true }).waitFor()
    await pushTo(bench, 'long', (git) => git('commit', '-q', '--allow-empty', '-m', 'From elsewhere'))
    await page.getByRole('status').getByRole('button', { name: 'show' }).click()
    await page.getByRole('grid').getByText('From elsewhere').waitFor()
    await visit.close()
  })

  it('fits a telephone', async () => {
    const visit = await bench.visit({ path: '/a/support-bot', width: 390, height: 844 })
    const { page } = visit
    await page.getByRole('row').first().waitFor()
    expect(await page.evaluate('document.documentElement.scrollWidth')).to.be.at.most(390)
    await visit.expectNoBarriers()
    await visit.picture('artifact-390')
    await visit.close()
  })
})
