import { expect } from 'chai'
import { closeBrowser } from '../support/browser/open-browser.ts'
import { openWorkbench, type Workbench } from './support/workbench.ts'

/** What a page says in words of git, outside of the parts about the API, git and where a version comes from. */
const WORDS_OF_GIT = `[...document.querySelectorAll('body *')]
  .filter((it) => !it.closest('code, pre, script, style, details, [aria-label=Origin], [aria-label="Use in code"]'))
  .flatMap((it) => [
    ...['aria-label', 'title', 'placeholder'].map((name) => it.getAttribute(name) ?? ''),
    ...[...it.childNodes].filter(({ nodeType }) => nodeType === Node.TEXT_NODE).map(({ data }) => data),
  ])
  .filter((text) => /\\b(?:revision|commit|slug|branch)(?:e?s|ted|ter)?\\b/i.test(text))`

describe('workbench: frame, sign-in and keys', () => {
  let bench: Workbench
  before(async () => {
    bench = await openWorkbench()
    await bench.ask('POST', '/simple/applications/', {
      application: {
        ...{ slug: 'support-bot', name: 'Support bot', message: 'Greet' },
        data: { parameters: { greeting: 'Hello' } },
      },
    })
  })
  after(async () => {
    await closeBrowser()
    await bench.close()
  })

  it('shows whoever is not signed in nothing but the sign-in page, whatever the address', async () => {
    const visit = await bench.visit({ path: '/a/support-bot', signedOut: true })
    const { page } = visit
    await page.getByRole('heading', { name: 'Branchpoint' }).waitFor()
    await visit.expectNoBarriers()
    await visit.picture('sign-in-1440')
    await page.getByLabel('API key').fill('svc_wrong')
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByText('unknown or revoked').waitFor()
    expect(await page.getByLabel('API key').inputValue(), 'what was typed is kept').to.equal('svc_wrong')
    await page.getByLabel('API key').fill(bench.key)
    await page.keyboard.press('Enter')
    // The address that was asked for is where one is then.
    await page.getByRole('navigation', { name: 'Places' }).waitFor()
    expect(new URL(page.url()).pathname).to.equal('/a/support-bot')
    await visit.close()
  })

  it('signs out when the session ends elsewhere, and takes one back to the same page', async () => {
    const visit = await bench.visit({ path: '/?kind=applications' })
    await visit.page.getByRole('link', { name: 'Support bot' }).waitFor()
    const [session] = await visit.context.cookies()
    await visit.context.clearCookies()
    await visit.page.getByRole('link', { name: 'Testsets' }).click()
    await visit.page.getByLabel('API key').waitFor()
    await visit.context.addCookies(session ? [session] : [])
    await visit.page.reload()
    await visit.page.getByRole('heading', { name: 'Testsets' }).waitFor()
    await visit.close()
  })

  it('signs in with a fresh link in the tab that a used one left at the sign-in page, and keeps no token in the address', async () => {
    const used = await bench.signInLink()
    const first = await bench.visit({ path: new URL(used).pathname + new URL(used).hash, signedOut: true })
    await first.page.getByRole('navigation', { name: 'Places' }).waitFor()
    expect(new URL(first.page.url()).pathname + new URL(first.page.url()).hash).to.equal('/')
    // Whoever is signed in and opens a used link stays signed in.
    await first.page.goto(used)
    await first.page.getByRole('navigation', { name: 'Places' }).waitFor()
    await first.page.waitForURL(`${bench.url}/`)
    await first.close()

    const visit = await bench.visit({ path: '/signin', signedOut: true })
    const { page } = visit
    await page.getByLabel('API key').waitFor()
    await page.evaluate('window.isTheSameTab = true')
    const follow = (link: string): Promise<unknown> =>
      page.evaluate(`location.href = ${JSON.stringify(link)}`)
    await follow(used)
    await page.getByRole('alert').getByText('This sign-in link has expired or was already used').waitFor()
    expect(page.url()).to.equal(`${bench.url}/signin`)
    await follow(await bench.signInLink())
    await page.getByRole('navigation', { name: 'Places' }).waitFor()
    expect(page.url()).to.equal(`${bench.url}/`)
    expect(await page.evaluate('window.isTheSameTab'), 'the page was not loaded anew').to.equal(true)
    await visit.close()
  })

  it('tries again by itself for as long as the server cannot be reached, where it says so', async () => {
    const visit = await bench.visit({ expected: /ERR_CONNECTION_RESET/ })
    const { page } = visit
    await page.clock.install()
    let tries = 0
    let isDown = true
    await page.route(/api\/(sessions\/current|workflows\/graph|testsets\/query)$/, (route) => {
      if (!isDown) return route.continue()
      tries++
      return route.abort('connectionreset')
    })
    const triesAtLeast = async (count: number): Promise<void> => {
      while (tries < count) await page.clock.runFor(1500)
    }
    // First the session is asked for, while nothing is there yet.
    await page.goto(`${bench.url}/a/support-bot`, { waitUntil: 'commit' })
    await page.getByText('The server does not answer. The page tries again by itself.').waitFor()
    await triesAtLeast(tries + 35)
    isDown = false
    await page.clock.runFor(1500)
    await page.getByRole('grid', { name: 'Versions, newest first' }).waitFor()
    // Then what a page reads.
    isDown = true
    await page.getByRole('link', { name: 'Testsets' }).click()
    await triesAtLeast(tries + 35)
    isDown = false
    await page.clock.runFor(1500)
    await page.getByText('A testset holds rows').waitFor()
    await visit.close()
  })

  it('goes by keys alone: palette, search, places, the list of keys', async () => {
    const visit = await bench.visit()
    const { page } = visit
    await page.getByRole('navigation', { name: 'Places' }).waitFor()
    await page.keyboard.press('?')
    await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).getByText('Go to prompts').waitFor()
    await visit.expectNoBarriers()
    await page.keyboard.press('Escape')
    await page.keyboard.press('g')
    await page.keyboard.press('p')
    await page.waitForURL('**/?kind=applications')
    await page.keyboard.press('/')
    await page.getByLabel('Words to search for').fill('hello')
    await page.getByRole('option', { name: /support-bot/ }).waitFor()
    await visit.expectNoBarriers()
    await visit.picture('palette-1440')
    await page.keyboard.press('Enter')
    // A hit leads to the place that has the words.
    await page.waitForURL('**/a/support-bot/r/support-bot-1?place=*greeting')
    await page.locator('[aria-current=location]').getByText('Hello').waitFor()
    await page.keyboard.press('Control+k')
    await page.getByLabel('Command or words to search for').fill('settings')
    await page.keyboard.press('Enter')
    await page.waitForURL('**/settings/keys')
    const current = page.getByRole('navigation', { name: 'Places' }).locator('[aria-current]')
    for (const section of ['keys', 'trash', 'session']) {
      await visit.go(`/settings/${section}`)
      await page.getByRole('heading', { level: 1 }).waitFor()
      expect(await current.allTextContents(), section).to.deep.equal(['Settings'])
    }
    await visit.close()
  })

  it('says version, saved, variant and ID: words of git only where git and the API are the subject', async () => {
    await bench.ask('POST', '/testsets/', { testset: { slug: 'empty' } })
    await bench.ask('POST', '/keys/', { key: { name: 'reader', scopes: ['read'] } })
    const visit = await bench.visit()
    const { page } = visit
    const pages = {
      '/': 'Latest changes',
      '/a/support-bot': 'Variants',
      '/a/support-bot/v/support-bot/1': 'Not deployed.',
      '/t/empty?view=versions': 'No versions yet',
      '/settings/keys': 'reader',
      '/settings/webhooks': 'No webhooks yet',
    }
    for (const [path, text] of Object.entries(pages)) {
      await visit.go(path)
      await page.getByText(text).first().waitFor()
      expect(await page.evaluate(WORDS_OF_GIT), path).to.deep.equal([])
    }
    await visit.close()
  })

  it('says of an address that is none what it is, also where something is built later', async () => {
    const visit = await bench.visit({ path: '/a/support-bot/nothing/here' })
    await visit.page.getByText('There is no page at /a/support-bot/nothing/here').waitFor()
    const answer = await visit.page.goto(`${bench.url}/support-bot`)
    expect(answer?.status()).to.equal(404)
    await visit.page.getByText('There is no page at /support-bot').waitFor()
    await visit.expectNoBarriers()
    await visit.page.getByRole('link', { name: 'Search for “support-bot”' }).click()
    await visit.page
      .getByRole('list', { name: 'What was found' })
      .getByRole('link', { name: 'Support bot' })
      .first()
      .waitFor()
    // What is built later has no address, and no place in the menu.
    await visit.go('/a/support-bot/proposals')
    await visit.page.getByText('There is no page at /a/support-bot/proposals').waitFor()
    const menu = visit.page.getByRole('navigation', { name: 'Places' }).getByRole('listitem')
    expect((await menu.allTextContents()).map((text) => text.replace(/\d+$/, ''))).to.deep.equal([
      'Prompts',
      'Evaluators',
      'Testsets',
      'Deployments',
      'Evaluations',
      'Traces',
      'Settings',
    ])
    await visit.close()
  })

  it('fits a telephone', async () => {
    const visit = await bench.visit({ width: 390, height: 844 })
    await visit.page.getByRole('heading', { level: 1 }).waitFor()
    const width = await visit.page.evaluate('document.documentElement.scrollWidth')
    expect(width).to.be.at.most(390)
    await visit.expectNoBarriers()
    await visit.close()
  })
})
