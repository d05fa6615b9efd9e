import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import { closeBrowser } from '../support/browser/open-browser.ts'
import { pushTo, seedPrompt } from './support/seed-prompts.ts'
import { openWorkbench, type Workbench } from './support/workbench.ts'

const HEAD = '/a/support-bot/v/support-bot'

const HOSTILE = '<script>document.title="taken"</script> \u202Egnp.exe ![](http://example.org/x.png)'

describe('workbench: a revision', () => {
  let bench: Workbench
  before(async () => {
    bench = await openWorkbench({ MAX_DOCUMENT_BYTES: '4194304' })
    await seedPrompt(bench)
  })
  after(async () => {
    await closeBrowser()
    await bench.close()
  })

  it('shows a prompt as a conversation, with its variables, settings and tools', async () => {
    const visit = await bench.visit({ path: HEAD })
    const { page } = visit
    await page.getByRole('heading', { name: 'v4', level: 1 }).waitFor()
    await page.getByRole('listitem').filter({ hasText: 'System' }).getByText('{{country}}').waitFor()
    for (const name of ['country', 'name', 'question'])
      await page.getByText('Variables:').locator('..').getByText(name, { exact: true }).waitFor()
    const settings = page.getByRole('region', { name: 'Model and settings' })
    await settings.getByRole('row', { name: 'temperature 0.2' }).waitFor()
    await page.getByText('find_page').waitFor()
    await page.getByRole('main').getByRole('link', { name: 'staging' }).first().waitFor()
    await page.getByText('Take in what was warmer').waitFor()
    await visit.expectNoBarriers()
    await visit.picture('revision-1440')
    await visit.close()
  })

  it('asks the server five times before anything is clicked', async () => {
    const visit = await bench.visit()
    const { page } = visit
    await page.goto('about:blank')
    const asked: string[] = []
    let release = (): void => undefined
    page.on('request', (request) => {
      const { pathname } = new URL(request.url())
      if (pathname.startsWith('/api/')) asked.push(`${request.method()} ${pathname}`)
    })
    const answer = new Promise<void>((answered) => (release = answered))
    await page.route('**/workflows/revisions/retrieve', (route) => answer.then(() => route.continue()))
    await visit.go(`${HEAD}/2`)
    await page
      .getByText(/^Loading/)
      .first()
      .waitFor()
    // The overview, for which the server counts everything, comes after what the page shows.
    await page.waitForTimeout(700)
    expect(asked).to.include('POST /api/workflows/revisions/retrieve')
    expect(asked).to.not.include('GET /api/projects/current')
    release()
    await page.getByRole('complementary').getByText('runs it').waitFor()
    await page.getByRole('navigation', { name: 'Places' }).getByText('1', { exact: true }).first().waitFor()
    await page.waitForTimeout(500)
    expect(asked.sort()).to.deep.equal([
      'GET /api/events',
      'GET /api/projects/current',
      'GET /api/sessions/current',
      'POST /api/workflows/revisions/dependents',
      'POST /api/workflows/revisions/retrieve',
    ])
    await visit.close()
  })

  it('unfolds in place what is embedded, as it is now, and says where it comes from', async () => {
    const visit = await bench.visit({ path: HEAD })
    const { page } = visit
    const embed = page.getByRole('button', { name: /Embedded: tone voice/ })
    await embed.click()
    await page.getByText('Speak calmly.').waitFor()
    await page.getByRole('link', { name: 'v1' }).first().waitFor()
    await page.getByRole('button', { name: /Embedded: tone parameters.limits/ }).click()
    await page.getByText('words:').waitFor()
    await visit.expectNoBarriers()
    await page.getByRole('main').getByRole('link', { name: 'tone', exact: true }).first().click()
    await page.waitForURL('**/a/tone')
    await visit.close()
  })

  it('tells of an embed that leads nowhere what the server says of it', async () => {
    await bench.ask('POST', '/simple/applications/', {
      application: { slug: 'lost', data: { parameters: { text: 'See @{{workflow.slug=nowhere, path=x}}' } } },
    })
    const visit = await bench.visit({ path: '/a/lost/v/lost' })
    await visit.page.getByRole('button', { name: /Embedded: nowhere/ }).click()
    await visit.page.getByRole('alert').getByText('nowhere').waitFor()
    await visit.close()
  })

  it('marks variables as the format of the prompt writes them', async () => {
    const formats = {
      curly: [
        String.raw`{{a}} \{{b}} \\{{c}} {{{d}}} {{"e"}} {{größe}}`,
        ['{{a}}', '{{c}}', '{{d}}', '{{größe}}'],
      ],
      fstring: ['{name} is {{not}}', ['{name}']],
      jinja2: ['{% if a %}{{ größe }}{% endif %}', ['{% if a %}', '{{ größe }}', '{% endif %}']],
      mustache: ['{{#list}}{{{raw}}}{{/list}}', ['{{#list}}', '{{{raw}}}', '{{/list}}']],
    } as const
    for (const [format, [text, marked]] of Object.entries(formats)) {
      await bench.ask('POST', '/simple/applications/', {
        application: {
          slug: format,
          data: {
            parameters: { prompt: { template_format: format, messages: [{ role: 'user', content: text }] } },
          },
        },
      })
      const visit = await bench.visit({ path: `/a/${format}/v/${format}` })
      const card = visit.page.getByRole('listitem').filter({ hasText: 'User' })
      await card.waitFor()
      const spans = await card.locator('span[title]').allTextContents()
      expect(spans, format).to.deep.equal(marked)
      await visit.close()
    }
  })

  it('says who wrote each line, what brought it, and what was before, step by step', async () => {
    const visit = await bench.visit({ path: HEAD })
    const { page } = visit
    await page.getByRole('link', { name: 'Blame' }).click()
    const system = page.getByRole('group', { name: /^system/ })
    await system.getByRole('button', { name: /v4 by admin.*Greet by name/ }).waitFor()
    await visit.expectNoBarriers()
    await visit.picture('revision-blame-1440')
    await system.getByRole('button', { name: /v2 by admin/ }).click()
    const sheet = page.getByRole('dialog', { name: 'Changed in v2' })
    await sheet.getByText('cite the manual').first().waitFor()
    expect(page.url()).to.contain('brought=2')
    await visit.expectNoBarriers()
    await sheet.getByRole('button', { name: 'Previous: v1' }).click()
    await page.getByRole('dialog', { name: 'Changed in v1' }).waitFor()
    await page.goBack()
    await sheet.getByRole('link', { name: 'Blame as of v1' }).click()
    await page.waitForURL('**/a/support-bot/v/support-bot/1?view=blame')
    await page
      .getByRole('group', { name: /^system/ })
      .getByText('Be kind.')
      .waitFor()
    await visit.close()
  })

  it('shows files as they lie in git, and JSON digit for digit in its order', async () => {
    const data = '{"parameters":{"10":1,"2":12345678901234567890,"a":0.10000000000000000555,"b":1e400}}'
    const response = await fetch(`${bench.url}/simple/applications/`, {
      method: 'POST',
      headers: { Authorization: `ApiKey ${bench.key}`, 'Content-Type': 'application/json' },
      body: `{"application":{"slug":"exact","data":${data}}}`,
    })
    expect(response.status).to.equal(200)
    const visit = await bench.visit({ path: '/a/exact/v/exact?view=json' })
    const { page } = visit
    const json = page.getByRole('region', { name: 'JSON' })
    await json.getByText('"10": 1,').waitFor()
    expect((await json.innerText()).replace(/\s*\d*\s*\n\s*/g, ' ')).to.contain('"2": 12345678901234567890,')
    for (const digits of ['0.10000000000000000555', '1e400']) await json.getByText(digits).waitFor()
    await page.getByRole('link', { name: 'Content', exact: true }).click()
    for (const digits of ['12345678901234567890', '0.10000000000000000555', '1e400'])
      await page.getByRole('region', { name: 'Parameters' }).getByText(digits).waitFor()
    await visit.go(`${HEAD}?view=files`)
    await page
      .getByRole('region', { name: 'data.json' })
      .getByText('"@svc.file": "prompt/system.md"')
      .waitFor()
    await page.getByRole('link', { name: 'prompt/system.md' }).click()
    await page
      .getByRole('region', { name: 'prompt/system.md' })
      .first()
      .getByText('Be kind, and cite')
      .waitFor()
    expect(new URL(page.url()).searchParams.get('file')).to.equal('prompt/system.md')
    await visit.expectNoBarriers()
    await visit.close()
  })

  it('says where it comes from, and goes to the versions before and after by keys', async () => {
    const visit = await bench.visit({ path: `${HEAD}/3` })
    const { page } = visit
    const aside = page.getByRole('complementary', { name: 'Origin' })
    await aside.getByText('admin <admin@branchpoint.local>').waitFor()
    await aside.getByText('Not deployed.').waitFor()
    await page.getByRole('link', { name: 'v4 ›' }).waitFor()
    await page.keyboard.press(']')
    await page.waitForURL(`**${HEAD}/4`)
    await aside.getByText('Parents').waitFor()
    await aside.getByRole('link', { name: 'staging' }).first().waitFor()
    await page.getByRole('link', { name: /^Newest/ }).waitFor()
    await page.keyboard.press('[')
    await page.waitForURL(`**${HEAD}/3`)
    await page.getByRole('heading', { name: 'v3', level: 1 }).waitFor()
    await page.keyboard.press('c')
    await page.waitForURL('**/compare/r:support-bot-2...r:support-bot-3')
    await visit.go(`/a/support-bot/r/support-bot-2`)
    await page.getByRole('heading', { name: 'v2', level: 1 }).waitFor()
    await page.getByRole('link', { name: 'production' }).first().waitFor()
    await visit.close()
  })

  it('shows scripts, evaluators and hooks as what they are', async () => {
    await bench.ask('POST', '/simple/applications/', {
      application: {
        slug: 'code',
        data: {
          uri: 'svc:custom:code:v0',
          runtime: 'javascript',
          script: 'export function evaluate({country}) {\n  return country\n}\n',
          parameters: { version: '3' },
        },
      },
    })
    await bench.ask('POST', '/simple/evaluators/', {
      evaluator: {
        slug: 'similar',
        template: 'auto_similarity_match',
        data: { parameters: { similarity_threshold: 0.5, correct_answer_key: 'capital' } },
      },
    })
    await bench.ask('POST', '/simple/applications/', {
      application: {
        slug: 'hook',
        data: {
          uri: 'svc:custom:hook:v0',
          url: 'https://hooks.example.org/x',
          headers: { authorization: { secret: 'HOOK' } },
        },
      },
    })
    const visit = await bench.visit({ path: '/a/code/v/code' })
    const { page } = visit
    await page.getByRole('region', { name: 'Script' }).getByText('return country').waitFor()
    await visit.expectNoBarriers()
    await visit.go('/a/similar/v/similar')
    await page.getByRole('row', { name: /correct_answer_key capital/ }).waitFor()
    await page.getByRole('row', { name: /similarity_threshold 0.5 default/ }).waitFor()
    await visit.go('/a/hook/v/hook')
    await page.getByText('the secret HOOK').waitFor()
    await visit.close()
  })

  it('names what is near where nothing is', async () => {
    const visit = await bench.visit({ path: '/a/support-bot/v/warmr' })
    const { page } = visit
    await page.getByRole('alert').getByRole('link', { name: 'warmer' }).click()
    await page.getByRole('heading', { name: 'v3', level: 1 }).waitFor()
    await visit.go(`${HEAD}/99`)
    await page.getByText('The latest version of "support-bot" is 4.').waitFor()
    await visit.go('/a/nobody/v/nobody')
    await page.getByRole('alert').waitFor()
    await visit.expectNoBarriers()
    await visit.close()
  })

  it('shows what is hostile as text, and stays quick with what is huge', async () => {
    let deep: object = { end: true }
    for (let depth = 0; depth < 100; depth++) deep = { deep }
    await bench.ask('POST', '/simple/applications/', {
      application: {
        slug: 'hostile',
        data: {
          uri: 'svc:builtin:completion:v0',
          parameters: {
            prompt: {
              messages: [
                { role: HOSTILE, content: HOSTILE },
                {
                  role: 'user',
                  content: [
                    { type: 'text', text: HOSTILE },
                    { type: 'image_url', image_url: { url: 'http://example.org/spy.png' } },
                  ],
                },
                { role: 'assistant', content: `{{${'x'.repeat(700_000)}` },
                {
                  role: 'assistant',
                  content: '{{a}}'.repeat(50_000),
                  tool_calls: [{ id: 'c1', function: { name: HOSTILE, arguments: 'javascript:alert(1)' } }],
                },
              ],
              [HOSTILE]: 'javascript:alert(1)',
            },
            deep,
          },
        },
        message: HOSTILE,
      },
    })
    await pushTo(bench, 'hostile', (git, folder) => {
      writeFileSync(join(folder, '<b>\u202Egnp.html'), HOSTILE)
      writeFileSync(join(folder, 'binary'), Buffer.from([0, 255, 1, 2]))
      git('add', '-A')
      git('commit', '-qm', HOSTILE)
    })
    const visit = await bench.visit({ path: '/a/hostile/v/hostile', width: 390, height: 844 })
    const { page } = visit
    const messages = page.getByRole('listitem').filter({ hasText: '<script>' })
    await messages.first().waitFor()
    await page.getByText('⟨202E⟩').first().waitFor()
    await page.getByText('http://example.org/spy.png').waitFor()
    await page
      .getByRole('button', { name: /show all 200,000 characters/ })
      .first()
      .click()
    await page.getByText('characters more are among the files').first().waitFor()
    await page
      .getByRole('button', { name: /show all 200,000 characters/ })
      .first()
      .click()
    expect(await page.evaluate('document.documentElement.scrollWidth')).to.be.at.most(390)
    expect(await page.getByRole('main').locator('img, script, iframe').count()).to.equal(0)
    expect(await page.title()).to.contain('v2')
    await page.getByRole('link', { name: 'JSON' }).click()
    await page
      .getByRole('button', { name: /characters more/ })
      .first()
      .waitFor()
    await page.getByRole('link', { name: 'Blame' }).click()
    await page.getByRole('group').getByText('<script>').first().waitFor()
    await page.getByRole('link', { name: 'Files' }).click()
    await page.getByRole('link', { name: 'binary' }).click()
    await page.getByText('Not a text file').waitFor()
    expect(await page.evaluate('document.documentElement.scrollWidth')).to.be.at.most(390)
    await visit.expectNoBarriers()
    await visit.close()
  })

  it('fits a telephone', async () => {
    const visit = await bench.visit({ path: HEAD, width: 390, height: 844 })
    const { page } = visit
    await page.getByText('{{country}}').waitFor()
    expect(await page.evaluate('document.documentElement.scrollWidth')).to.be.at.most(390)
    await visit.expectNoBarriers()
    await visit.picture('revision-390')
    await visit.close()
  })
})
