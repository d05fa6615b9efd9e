import { autocompletion, completionKeymap } from '@codemirror/autocomplete'
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands'
import { bracketMatching, syntaxHighlighting } from '@codemirror/language'
import { Annotation, Compartment, EditorState, type Extension, RangeSetBuilder } from '@codemirror/state'
import { Decoration, drawSelection, EditorView, keymap, lineNumbers } from '@codemirror/view'
import { useEffect, useRef } from 'react'
import { cspNonce } from '../../shell/csp-nonce.ts'
import styles from './editor.module.css'
import type { EditorProps } from './editor-props.ts'
import { languageSupport } from './editor-languages.ts'
import { editorTheme, highlighting } from './editor-theme.ts'
import { templateSupport } from './template-support.ts'

/** Set on changes that come from outside, which are not told back. */
const isGiven = Annotation.define<true>()

/** CodeMirror as this page uses it. */
export default function CodeMirror(props: EditorProps) {
  const { label, value, language, format = 'curly', names = NONE, readOnly = false, problem } = props
  const place = useRef<HTMLDivElement>(null)
  const view = useRef<EditorView | undefined>(undefined)
  const newest = useRef(props)
  newest.current = props
  const slots = useRef({ language: new Compartment(), access: new Compartment() })

  useEffect(() => {
    const parent = place.current
    if (!parent) return
    const { current: slot } = slots
    const made = new EditorView({
      parent,
      state: EditorState.create({
        doc: newest.current.value,
        extensions: [common(language !== 'template'), slot.language.of([]), slot.access.of([])],
      }),
      dispatchTransactions: (transactions, it) => {
        it.update(transactions)
        if (transactions.some((one) => one.docChanged && one.annotation(isGiven) === undefined))
          newest.current.onChange(it.state.doc.toString())
      },
    })
    view.current = made
    return () => {
      view.current = undefined
      made.destroy()
    }
  }, [language !== 'template'])

  useEffect(() => {
    const shown = view.current
    if (!shown || shown.state.doc.toString() === value) return
    shown.dispatch({
      changes: { from: 0, to: shown.state.doc.length, insert: value },
      annotations: isGiven.of(true),
    })
  }, [value])

  useEffect(() => {
    let isWanted = true
    const set = (extension: Extension): void => {
      if (isWanted) view.current?.dispatch({ effects: slots.current.language.reconfigure(extension) })
    }
    if (language === 'template') set(templateSupport(format, names))
    else void languageSupport(language).then(set)
    return () => {
      isWanted = false
    }
    // Names are a new list each time, and the same names mostly.
  }, [language, format, names.join('\n')])

  useEffect(() => {
    view.current?.dispatch({
      effects: slots.current.access.reconfigure([
        EditorState.readOnly.of(readOnly),
        EditorView.editable.of(!readOnly),
        EditorView.contentAttributes.of({
          'aria-label': label,
          ...(readOnly ? { tabindex: '0', 'aria-readonly': 'true' } : {}),
          ...(problem === undefined ? {} : { 'aria-invalid': 'true' }),
        }),
      ]),
    })
  }, [label, readOnly, problem])

  return (
    <div className={styles.field}>
      <div ref={place} className={language === 'template' ? styles.prose : styles.code} />
      {problem !== undefined && (
        <p role="alert" className={styles.problem}>
          {problem}
        </p>
      )}
    </div>
  )
}

const NONE: readonly string[] = []

function common(isCode: boolean): Extension {
  const nonce = cspNonce()
  return [
    history(),
    drawSelection(),
    isCode ? [lineNumbers(), bracketMatching()] : [],
    EditorView.lineWrapping,
    linesByThemselves,
    syntaxHighlighting(highlighting),
    editorTheme,
    autocompletion({ icons: false }),
    keymap.of([
      ...completionKeymap,
      { key: 'Escape', run: leave },
      // Mod-Enter commits what is edited, everywhere on the page.
      ...defaultKeymap.filter(({ key }) => key !== 'Mod-Enter'),
      ...historyKeymap,
    ]),
    nonce === undefined ? [] : EditorView.cspNonce.of(nonce),
  ]
}

/** Each line is set from right to left where its first letter is, as it is wherever else the page shows it. */
const linesByThemselves: Extension = [
  EditorView.perLineTextDirection.of(true),
  EditorView.decorations.of(({ state, visibleRanges }) => {
    const lines = new RangeSetBuilder<Decoration>()
    for (const { from, to } of visibleRanges)
      for (let at = from; at <= to; at = state.doc.lineAt(at).to + 1) {
        const line = state.doc.lineAt(at)
        lines.add(line.from, line.from, OF_ITS_OWN)
      }
    return lines.finish()
  }),
]

const OF_ITS_OWN = Decoration.line({ attributes: { dir: 'auto' } })

/** The page's own keys work again. */
function leave(view: EditorView): boolean {
  view.contentDOM.blur()
  return true
}
