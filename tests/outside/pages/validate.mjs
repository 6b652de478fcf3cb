// Validates pages: reads {"name", "html"} lines and prints a line per fault.
// usage: node validate.mjs FOLDER, which tests/outside/pages/setup prints

import { createRequire } from "node:module";
import { createInterface } from "node:readline";

const require = createRequire(`${process.argv[2]}/package.json`);
const { HtmlValidate, StaticConfigLoader } = require("html-validate");

const validator = new HtmlValidate(
    new StaticConfigLoader({
        root: true,
        extends: ["html-validate:standard", "html-validate:a11y", "html-validate:document"],
        rules: {
            // The stylesheet has the origin of the page.
            "require-sri": "off",
            // A fragment links to a field with the same label.
            "long-title": "off",
            // autocomplete="off" is intended.
            "prefer-native-element": ["error", { exclude: ["table", "row", "cell", "rowgroup", "columnheader"] }],
            // The stylesheet displays tables as cards, and browsers then ignore the table roles.
            "no-redundant-role": "off",
        },
    }),
);

for await (const line of createInterface({ input: process.stdin })) {
    const { name, html } = JSON.parse(line);
    const report = await validator.validateString(html);
    for (const { messages } of report.results)
        for (const { line, column, ruleId, message, selector } of messages)
            console.log(`${name}:${line}:${column} ${ruleId}: ${message} (${selector})`);
}
