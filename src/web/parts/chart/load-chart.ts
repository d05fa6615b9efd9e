/**
 * Loads uPlot, which takes the browser's language for a number format as soon as it is loaded, and throws where that is none, such as the
 * `en-US@posix` of a browser under `LANG=C`. There the page's own language is the browser's from then on.
 */
export async function loadChart() {
  if (!isLanguage(navigator.language))
    Object.defineProperty(navigator, 'language', { value: document.documentElement.lang || 'en' })
  return (await import('uplot')).default
}

function isLanguage(tag: string): boolean {
  try {
    return new Intl.NumberFormat(tag).format(1) !== ''
  } catch {
    return false
  }
}
