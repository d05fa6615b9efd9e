/** What `/docs` does in the browser: filter operations as one types, and open the one an address points at. */
export const DOCS_SCRIPT = `
const filter = document.getElementById('filter')
const entries = [...document.querySelectorAll('[data-words]')]
const groups = [...document.querySelectorAll('[data-group]')]
filter.addEventListener('input', () => {
  const words = filter.value.toLowerCase().split(/\\s+/)
  for (const entry of entries) entry.hidden = !words.every((word) => entry.dataset.words.includes(word))
  for (const group of groups) group.hidden = !group.querySelector('[data-words]:not([hidden])')
})
const openTarget = () => {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)))
  if (target instanceof HTMLDetailsElement) { target.open = true; target.scrollIntoView() }
}
addEventListener('hashchange', openTarget)
openTarget()
`
