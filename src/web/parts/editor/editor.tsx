import { lazy, Suspense } from 'react'
import styles from './editor.module.css'
import type { EditorProps } from './editor-props.ts'

const CodeMirror = lazy(() => import('./code-mirror.tsx'))

/** A text that is edited: CodeMirror, which is loaded when the first one is shown. Tab leaves it, Escape too. */
export function Editor(props: EditorProps) {
  return (
    <Suspense fallback={<Waiting text={props.value} />}>
      <CodeMirror {...props} />
    </Suspense>
  )
}

/** What stands in the place of an editor before there is one. */
export function Waiting({ text }: { readonly text: string }) {
  return (
    <pre className={styles.waiting} dir="auto">
      {text.slice(0, 4000)}
    </pre>
  )
}
