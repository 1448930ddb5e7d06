// What the types do not tell of the pages' modules. `make lint` runs it from the project's folder.
// eslint-plugin-office-addins was tried: it takes arrays and a sheet's cells for Excel's objects, and loops over blocks
// for mistakes; of 17 findings none was one.
import js from "@eslint/js";

export default [
  { ignores: ["addin/sheet/component/**"] },
  {
    files: ["**/*.js", "**/*.mjs"],
    linterOptions: { reportUnusedDisableDirectives: "error" },
    languageOptions: { ecmaVersion: 2022, sourceType: "module" },
    rules: {
      ...js.configs.recommended.rules,
      "no-undef": "off", // tsc knows the browsers', Office's and the component's names
      "array-callback-return": "error",
      complexity: ["error", 20],
      eqeqeq: ["error", "always", { null: "ignore" }],
      "max-lines": ["error", 500],
      "max-lines-per-function": ["error", { max: 50, skipBlankLines: true, skipComments: true }],
      "no-else-return": "error",
      "no-implicit-coercion": "error",
      "no-self-compare": "error",
      "no-shadow": ["error", { allow: ["_"] }],
      "no-unmodified-loop-condition": "error",
      "no-unused-vars": ["error", { argsIgnorePattern: "^_", varsIgnorePattern: "^_", caughtErrors: "none" }],
      "no-use-before-define": ["error", { functions: false, classes: false, variables: false }],
      "no-var": "error",
      "object-shorthand": "error",
      "prefer-const": "error",
      "prefer-template": "error",
      "require-atomic-updates": "error",
    },
  },
  { files: ["tests/**"], rules: { "max-lines-per-function": "off" } }, // the stand-in for Excel is one function a script
];
