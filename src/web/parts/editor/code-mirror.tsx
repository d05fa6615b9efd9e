import {
  autocompletion,
  completionKeymap,
  type CompletionContext,
  type CompletionResult,
} from '@codemirror/autocomplete'
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands'
import { bracketMatching, syntaxHighlighting, syntaxTree, HighlightStyle } from '@codemirror/language'
import { Annotation, Compartment, EditorState, type Extension, RangeSetBuilder } from '@codemirror/state'
import {
  Decoration,
  drawSelection,
  EditorView,
  keymap,
  lineNumbers,
  type DecorationSet,
  ViewPlugin,
  type ViewUpdate,
} from '@codemirror/view'
import { useEffect, useRef } from 'react'
import { cspNonce } from '../../shell/document.ts'
import styles from './editor.module.css'
import type { EditorProps, EditorLanguage } from './editor-props.ts'
import { tags } from '@lezer/highlight'
import { type TemplateFormat, variablesIn } from '../../../run/templates/template-variables.ts'

/** Marks changes that the page makes: they are not reported back. */
const isGiven = Annotation.define<true>()

/** CodeMirror, configured for this page. */
export default function CodeMirror(props: EditorProps) {
  const {
    label,
    value,
    language,
    format = 'curly',
    names = NONE,
    readOnly = false,
    describedBy,
    problem,
  } = props
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
    // The array is new each time, with mostly the same names.
  }, [language, format, names.join('\n')])

  useEffect(() => {
    view.current?.dispatch({
      effects: slots.current.access.reconfigure([
        EditorState.readOnly.of(readOnly),
        EditorView.editable.of(!readOnly),
        EditorView.contentAttributes.of({
          'aria-label': label,
          tabindex: '0',
          ...(readOnly ? { 'aria-readonly': 'true' } : {}),
          ...(problem === undefined ? {} : { 'aria-invalid': 'true' }),
          ...(describedBy === undefined ? {} : { 'aria-describedby': describedBy }),
        }),
      ]),
    })
  }, [label, readOnly, describedBy, problem])

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
    isCode ? [lineNumbers(), bracketMatching(), stringsByThemselves] : [],
    EditorView.lineWrapping,
    linesByThemselves,
    syntaxHighlighting(highlighting),
    editorTheme,
    autocompletion({ icons: false }),
    keymap.of([
      ...completionKeymap,
      { key: 'Escape', run: leave },
      // Mod-Enter commits everywhere on the page.
      ...defaultKeymap.filter(({ key }) => key !== 'Mod-Enter'),
      ...historyKeymap,
    ]),
    nonce === undefined ? [] : EditorView.cspNonce.of(nonce),
  ]
}

/** Each line gets its direction from its first letter, as elsewhere on the page. */
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

/** Each string of code gets its direction from its own first letter, whatever the direction of its line. */
const stringsByThemselves: Extension = [
  EditorView.decorations.of(stringsIn),
  // The cursor moves through a string in the string's direction.
  EditorView.bidiIsolatedRanges.of(stringsIn),
]

function stringsIn({ state, visibleRanges }: EditorView): DecorationSet {
  const strings = new RangeSetBuilder<Decoration>()
  for (const { from, to } of visibleRanges)
    syntaxTree(state).iterate({
      from,
      to,
      enter: (node) => {
        if (!/String$|^PropertyName$/.test(node.name)) return true
        strings.add(node.from, node.to, ISOLATED)
        return false
      },
    })
  return strings.finish()
}

const ISOLATED = Decoration.mark({ attributes: { dir: 'auto' }, bidiIsolate: null })

/** Returns the keys to the page. */
function leave(view: EditorView): boolean {
  view.contentDOM.blur()
  return true
}

/** The support for a language, loaded at its first use. */
async function languageSupport(language: Exclude<EditorLanguage, 'template'>): Promise<Extension> {
  switch (language) {
    case 'json': {
      const [{ json, jsonParseLinter }, { linter, lintGutter, lintKeymap }] = await Promise.all([
        import('@codemirror/lang-json'),
        import('@codemirror/lint'),
      ])
      return [json(), linter(jsonParseLinter(), { delay: 300 }), lintGutter(), keymap.of(lintKeymap)]
    }
    case 'python':
      return (await import('@codemirror/lang-python')).python()
    default: {
      const { javascript } = await import('@codemirror/lang-javascript')
      return javascript({ typescript: language === 'typescript' })
    }
  }
}

/** The colours of theme/tokens.css for syntax. */
const highlighting = HighlightStyle.define([
  { tag: [tags.keyword, tags.operatorKeyword, tags.modifier], color: 'var(--accent)' },
  { tag: [tags.string, tags.special(tags.string)], color: 'var(--good)' },
  { tag: [tags.number, tags.bool, tags.null], color: 'var(--warn)' },
  { tag: [tags.comment, tags.meta], color: 'var(--muted)', fontStyle: 'italic' },
  { tag: [tags.propertyName, tags.definition(tags.propertyName)], color: 'var(--text)', fontWeight: '600' },
])

/** The elements that CodeMirror draws, in the colours of the page. */
const editorTheme = EditorView.theme({
  '&': { backgroundColor: 'var(--surface)', color: 'var(--text)' },
  '&.cm-focused': { outline: 'none' },
  '.cm-content': { caretColor: 'var(--text)', padding: '8px 0' },
  '.cm-line': { padding: '0 12px' },
  '.cm-cursor': { borderLeftColor: 'var(--text)' },
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground': {
    background: 'var(--accent-bg)',
  },
  '.cm-gutters': {
    backgroundColor: 'var(--surface)',
    color: 'var(--muted)',
    border: 'none',
    borderRight: '1px solid var(--line)',
  },
  '.cm-tooltip': {
    backgroundColor: 'var(--raised)',
    color: 'var(--text)',
    border: '1px solid var(--line)',
    borderRadius: 'var(--radius)',
    boxShadow: 'var(--shadow)',
  },
  '.cm-tooltip.cm-tooltip-autocomplete > ul > li': { padding: '4px 12px', fontFamily: 'var(--mono)' },
  '.cm-tooltip-autocomplete ul li[aria-selected]': {
    background: 'var(--accent)',
    color: 'var(--accent-text)',
  },
  '&.cm-focused .cm-matchingBracket': { backgroundColor: 'var(--accent-bg)' },
  '.cm-variable': {
    color: 'var(--accent)',
    backgroundColor: 'var(--accent-bg)',
    borderRadius: '3px',
    fontFamily: 'var(--mono)',
    fontSize: '0.93em',
  },
})

/** Marks the variables of a template, and completes names after the braces. */
function templateSupport(format: TemplateFormat, names: readonly string[]): Extension {
  // CodeMirror compares sources by identity.
  const data = [{ autocomplete: offers(format, names) }]
  return [
    ViewPlugin.define(
      (view) => {
        const plugin = {
          decorations: marksIn(view, format),
          update: ({ docChanged, viewportChanged, view: now }: ViewUpdate) => {
            if (docChanged || viewportChanged) plugin.decorations = marksIn(now, format)
          },
        }
        return plugin
      },
      { decorations: ({ decorations }) => decorations },
    ),
    EditorState.languageData.of(() => data),
  ]
}

const MARK = Decoration.mark({ class: 'cm-variable' })

/** A variable may start before the visible part. */
const MARGIN = 400

/** Only the visible part is searched. */
function marksIn(view: EditorView, format: TemplateFormat): DecorationSet {
  const marks = new RangeSetBuilder<Decoration>()
  let done = 0
  for (const { from, to } of view.visibleRanges) {
    const start = Math.max(done, from - MARGIN)
    const text = view.state.doc.sliceString(start, Math.min(view.state.doc.length, to + MARGIN))
    for (const mark of variablesIn(text, format)) {
      marks.add(start + mark.from, start + mark.to, MARK)
      done = start + mark.to
    }
  }
  return marks.finish()
}

function offers(format: TemplateFormat, names: readonly string[]) {
  const close = format === 'fstring' ? '}' : '}}'
  return (context: CompletionContext): CompletionResult | null => {
    const begun = context.matchBefore(format === 'fstring' ? /\{[\w.-]*/ : /\{\{\s*[\w.-]*/)
    if (!begun) return null
    const from = context.pos - (/[\w.-]*$/.exec(begun.text)?.[0].length ?? 0)
    const after = context.state.sliceDoc(context.pos, context.pos + close.length)
    return {
      from,
      options: names.map((name) => ({ label: name, apply: after === close ? name : `${name}${close}` })),
      validFor: /^[\w.-]*$/,
    }
  }
}
